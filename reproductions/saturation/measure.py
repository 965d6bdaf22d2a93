"""Training curves of the same network under printed and annealed gains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from rankwise.baselines import CrossEntropy
from rankwise.metrics import average_precision
from rankwise.objectives import SOPRC, Objective, StableAP
from reproductions.base import Setting

__all__ = ["LOSSES", "Curve", "Plan", "measure"]

FEATURES, SHIFT = 20, 2.0

Maker = Callable[[float], Objective]

LOSSES: dict[str, Maker] = {
    "cross-entropy": lambda prior: CrossEntropy(),
    "SOPRC, printed gain": partial(SOPRC, gain="fixed"),
    "SOPRC, annealed": partial(SOPRC, gain="annealed"),
    "StableAP, printed gain": partial(StableAP, gain="fixed"),
    "StableAP, annealed": partial(StableAP, gain="annealed"),
}


@dataclass(frozen=True)
class Plan:
    """How much is trained."""

    prior: float = 0.01
    items: int = 20_000
    batch: int = 1_000
    steps: int = 400
    every: int = 20
    repeats: int = 5

    @classmethod
    def of(cls, setting: Setting) -> Plan:
        """The plan for a setting; ``draws`` is the number of repeats."""
        base = cls(steps=120, repeats=3) if setting.quick else cls()
        return cls(
            base.prior,
            base.items,
            base.batch,
            base.steps,
            base.every,
            setting.draws or base.repeats,
        )


@dataclass(frozen=True)
class Curve:
    """One training: loss, test AP and gain at the steps looked at; NaN where there is no gain."""

    loss: str
    repeat: int
    steps: list[int]
    value: list[float]
    test_ap: list[float]
    gain: list[float]


def measure(plan: Plan, setting: Setting) -> list[Curve]:
    """Every loss on every repeat: same data, same start, same batches."""
    work = [(name, repeat) for repeat in range(plan.repeats) for name in LOSSES]
    return [
        _train(name, LOSSES[name], plan, setting.seed, repeat)
        for name, repeat in setting.track(work, "training")
    ]


def _train(name: str, make: Maker, plan: Plan, seed: int, repeat: int) -> Curve:
    generator = torch.Generator().manual_seed(1_000 * seed + repeat)
    x, y = _data(plan, generator)
    x_test, y_test = _data(plan, generator)
    torch.manual_seed(1_000 * seed + repeat)
    network = nn.Sequential(nn.Linear(FEATURES, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.3, momentum=0.9)
    loss = make(plan.prior)
    seen: dict[str, list[Any]] = {"steps": [], "value": [], "test_ap": [], "gain": []}
    for step in range(plan.steps + 1):
        rows = torch.randint(0, plan.items, (plan.batch,), generator=generator)
        value = loss(network(x[rows]), y[rows])
        if step % plan.every == 0:
            with torch.no_grad():
                precision = average_precision(network(x_test), y_test)
            gain = getattr(loss, "multiplier", None)
            printed = (1 - plan.prior) / plan.prior if "printed" in name else float("nan")
            seen["steps"].append(step)
            seen["value"].append(float(value.detach()))
            seen["test_ap"].append(float(precision))
            seen["gain"].append(printed if gain is None else float(gain))
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    return Curve(name, repeat, **seen)


def _data(plan: Plan, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """A rare class shifted along one direction, bent so that a line is not enough."""
    y = torch.rand(plan.items, generator=generator) < plan.prior
    x = torch.randn(plan.items, FEATURES, generator=generator)
    x[y, 0] += SHIFT
    x[y, 1] *= 0.3
    return x, y
