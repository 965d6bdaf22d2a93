"""Every objective in one table: how to make it, and its risk of one list written out densely.

The rows are in ``tests/objectives/rows``, one file for each family, found by themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rankwise.objectives import Objective

PRIOR = 0.1
ITEMS = 10_000


@dataclass(frozen=True)
class Row:
    """One objective: ``dense(scores, target)`` is its risk of a list not seen before."""

    name: str
    make: Callable[..., Objective]
    dense: Callable[[Tensor, Tensor], Tensor]
    options: dict[str, Any] = field(default_factory=dict)
    scaled: bool = False  # takes score_scale, and divides by the spread where it is "auto"
    shifts: bool = True  # a constant added to all scores changes nothing
    graded: bool = False  # targets are relevances, not classes
    shares: bool = False  # relevances are at most 1
    tolerance: float = 2e-6  # of the value; the gradient is given ten times as much

    def __str__(self) -> str:
        return self.name

    def objective(self, **options: Any) -> Objective:
        """The objective as the row has it, on the scores as they are."""
        return self.make(**({"score_scale": 1.0} if self.scaled else {}), **self.options, **options)

    def data(self, n: int = 60, seed: int = 0) -> tuple[Tensor, Tensor]:
        """A random list with targets of the kind the objective takes."""
        scores, target = random_list(n, seed=seed)
        if not self.graded:
            return scores, target
        generator = torch.Generator().manual_seed(seed)
        relevance = torch.randint(1, 4, (n,), generator=generator) * target
        return scores, relevance / 4 if self.shares else relevance

    def rescaled(self) -> Objective:
        """The objective on the scores in units of their spread, where it can do that."""
        return self.make(**self.options, **({"score_scale": "auto"} if self.scaled else {}))


def sides(scores: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    return scores[target.bool()], scores[~target.bool()]


def log_mean_exp(x: Tensor) -> Tensor:
    """log of the mean of e^x over the last dimension, in logarithms throughout."""
    return x.logsumexp(-1) - math.log(x.shape[-1])


def call(objective: Objective, scores: Tensor, target: Tensor, **beside: Any) -> Tensor:
    """The objective on lists it has not seen: item ids are made up where it wants them."""
    if objective.memory_by == "item" and "item_ids" not in beside:
        beside["item_ids"] = torch.arange(scores.numel()).reshape(scores.shape)
    return objective(scores, target, **beside)


def random_list(n: int = 60, rate: float = 0.25, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(n, dtype=torch.float64, generator=generator)
    target = torch.rand(n, generator=generator) < rate
    target[:2] = torch.tensor([True, False])
    return scores, target


def all_rows() -> list[Row]:
    names = sorted(path.stem for path in (Path(__file__).parent / "rows").glob("[a-z]*.py"))
    return [row for name in names for row in import_module(f"tests.objectives.rows.{name}").ROWS]
