"""The five rankings of Table 1 under every metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import torch
from torch import Tensor

from rankwise.metrics import auroc, pap_at_k, partial_auroc, precision_at_k
from reproductions.base import Setting

__all__ = ["RANKINGS", "Plan", "Value", "measure"]

RANKINGS = {
    "f₁": "01101110000",
    "f₂": "10111000001",
    "f₃": "11000000111",
    "f₄": "11011100000",
    "f₅": "11101100000",
}
"""The labels from the highest score down: five relevant of eleven."""


def _of(over: int, under: int) -> Fraction:
    return Fraction(over, under)


PUBLISHED = {
    "AUC": {"f₁": _of(22, 30), "f₂": _of(21, 30), "f₃": _of(12, 30)},
    "pAUC(0, 2/6]": {"f₁": _of(2, 10), "f₂": _of(5, 10), "f₃": _of(4, 10)},
    "pAp@2": {"f₁": _of(2, 4), "f₂": _of(3, 4), "f₃": _of(1, 1)},
    "prec@6": {"f₄": _of(5, 6), "f₅": _of(5, 6)},
    "pAp@6": {"f₄": _of(27, 30), "f₅": _of(28, 30)},
}
METRICS: dict[str, Callable[[Tensor, Tensor], object]] = {
    "AUC": auroc,
    "pAUC(0, 2/6]": partial(partial_auroc, max_fpr=2 / 6),
    "pAp@2": partial(pap_at_k, k=2),
    "prec@6": partial(precision_at_k, k=6),
    "pAp@6": partial(pap_at_k, k=6),
}


@dataclass(frozen=True)
class Plan:
    """Which rankings; there is nothing random here."""

    rankings: dict[str, str] = field(default_factory=lambda: dict(RANKINGS))

    @classmethod
    def of(cls, setting: Setting) -> Plan:
        """The plan for a setting, which changes nothing."""
        return cls()


@dataclass(frozen=True)
class Value:
    """A metric of a ranking, ours and, where the paper has one, the paper's."""

    ranking: str
    metric: str
    ours: float
    paper: Fraction | None

    @property
    def agrees(self) -> bool:
        """Whether the two are the same number, or there is only ours."""
        return self.paper is None or abs(self.ours - float(self.paper)) < 1e-12


def measure(plan: Plan, setting: Setting) -> list[Value]:
    """Every metric of every ranking."""
    found = []
    for name, labels in setting.track(list(plan.rankings.items()), "ranking"):
        target = torch.tensor([int(label) for label in labels])
        scores = torch.arange(len(labels), 0, -1, dtype=torch.float64)
        for metric, compute in METRICS.items():
            value = float(torch.as_tensor(compute(scores, target)))
            found.append(Value(name, metric, value, PUBLISHED[metric].get(name)))
    return found
