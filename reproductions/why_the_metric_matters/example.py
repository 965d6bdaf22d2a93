"""What an example is: rankings of the same items, with what a paper prints of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Ranking:
    """Scores and labels of one model; ``given``: the paper prints its scores.

    ``reference``: it is there for comparison, and no metric has to choose it.
    """

    name: str
    about: str
    scores: tuple[float, ...]
    target: tuple[int, ...]
    given: bool = False
    reference: bool = False

    @classmethod
    def of(cls, name: str, about: str, labels: Sequence[int]) -> Ranking:
        """Make a ranking from labels listed from the highest score down."""
        return cls(name, about, tuple(float(s) for s in range(len(labels), 0, -1)), tuple(labels))

    def tensors(self) -> tuple[Tensor, Tensor]:
        """Return scores and target."""
        return torch.tensor(self.scores, dtype=torch.float64), torch.tensor(self.target)

    @property
    def labels(self) -> list[int]:
        """The labels from the highest score down; no paper has a positive tied with a negative."""
        order = sorted(range(len(self.scores)), key=lambda i: -self.scores[i])
        return [self.target[i] for i in order]


@dataclass(frozen=True)
class Printed:
    """A number of a ranking as the paper prints it: a fraction or a decimal."""

    metric: str
    ranking: str
    text: str


@dataclass(frozen=True)
class Claim:
    """An order that the paper states for a metric; names in one string with "=" are level."""

    metric: str
    order: str


@dataclass(frozen=True)
class Example:
    """Rankings of the same items, with the cuts under which the metrics are computed."""

    title: str
    source: str
    says: str
    rankings: tuple[Ranking, ...]
    ks: tuple[int, ...]
    max_fpr: tuple[int, int]  # a fraction, so that the report can print it
    printed: tuple[Printed, ...]
    claims: tuple[Claim, ...]
    threshold: float | None = None
    note: str = ""

    @property
    def paper(self) -> str:
        """The name of the document."""
        return self.source.split(",", maxsplit=1)[0]

    @property
    def compared(self) -> list[str]:
        """The names of the rankings that a metric chooses from."""
        return [ranking.name for ranking in self.rankings if not ranking.reference]

    @property
    def negatives(self) -> int:
        """The number of negatives, the same in every ranking."""
        return self.rankings[0].target.count(0)

    @property
    def positives(self) -> int:
        """The number of positives, the same in every ranking."""
        return self.rankings[0].target.count(1)
