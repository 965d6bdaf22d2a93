"""Every objective and baseline with data of the kind it takes, by table and by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from tests.baselines.cases import CASES
from tests.naming.test_every_name import BY_CLASS, KNOWN, text
from tests.objectives.contract import all_rows, call
from torch import Tensor, nn

from rankwise.naming import objective
from rankwise.naming.entry import ObjectiveEntry
from rankwise.naming.table import ENTRIES

EMBEDDINGS = ("xbm", "proxy_anchor", "normalized_softmax", "arcface")


@dataclass(frozen=True)
class Loss:
    """How to make a loss, scores for it, and its value at any scores of their shape."""

    name: str
    make: Callable[[], nn.Module]
    scores: Tensor
    value: Callable[[nn.Module, Tensor], Tensor]

    def __str__(self) -> str:
        return self.name

    def at(self, scores: Tensor) -> Tensor:
        """The value of a new loss."""
        return self.value(self.make(), scores)

    def of_one(self) -> Callable[[Tensor], Tensor]:
        """The value as a function of scores, of one loss that is made here."""
        return partial(self.value, self.make())

    def gradient(self, scores: Tensor) -> Tensor:
        """The gradient of a new loss."""
        scores = scores.detach().clone().requires_grad_()
        (gradient,) = torch.autograd.grad(self.at(scores), scores)
        return gradient


def every_loss() -> list[Loss]:
    """The rows of the objectives' table, the cases of the baselines, and the table of names."""
    return [*_of_rows(), *_of_cases(), *map(_of_name, ENTRIES)]


def _of_rows() -> Iterator[Loss]:
    for row in all_rows():
        scores, target = row.data(40, seed=1)
        value = partial(_on, target)
        yield Loss(str(row), row.objective, scores, value)
        if row.scaled:
            yield Loss(f"{row}, auto", row.rescaled, scores, value)


def _on(target: Tensor, loss: Any, scores: Tensor) -> Tensor:
    return call(loss, scores, target)


def _of_cases() -> Iterator[Loss]:
    for case in CASES:
        scores, target = case.sample(3, 20, seed=1)
        yield Loss(case.name, case.make, scores, partial(_called, target=target))


def _called(loss: nn.Module, scores: Tensor, **arguments: Tensor) -> Tensor:
    target = arguments.pop("target")
    value: Tensor = loss(scores, target, **arguments)
    return value


def _of_name(entry: ObjectiveEntry) -> Loss:
    name, generator = entry.names[0], torch.Generator().manual_seed(0)

    def make() -> nn.Module:
        made = objective(text(entry), **KNOWN)
        if hasattr(made, "proxies"):  # they start at random
            made.proxies.data.normal_(generator=torch.Generator().manual_seed(3))
        return made

    def drawn(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    if name in EMBEDDINGS:
        return Loss(f'"{name}"', make, drawn(6, 4), partial(_called, target=torch.arange(6) // 2))
    if name in BY_CLASS:
        return Loss(f'"{name}"', make, drawn(12, 3), partial(_called, target=torch.arange(12) % 3))
    ids = {"list_ids": torch.tensor(0), "item_ids": torch.arange(30)}
    value = partial(_called, target=torch.arange(30) % 3 == 0, **ids)
    return Loss(f'"{name}"', make, drawn(30) / 4, value)
