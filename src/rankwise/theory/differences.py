"""Bounded differences: how far replacing one example can move a loss   (StableAP, Definition 1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rankwise.checks import require_count
from rankwise.theory.summary import Mean, mean_of

__all__ = ["BoundedDifference", "Loss", "bounded_difference", "loglog_slope"]

Loss = Callable[[Tensor, Tensor], Tensor]
"""A loss of scores and 0/1 targets, as every objective and baseline is."""


@dataclass(frozen=True)
class BoundedDifference:
    """How much the loss of lists of ``n`` changed when one example was replaced.

    ``typical`` is the mean over random lists and random replacements; ``worst`` the largest change
    found at all, in a list of the kind ``where``: a lower bound of the constant c.
    """

    n: int
    typical: Mean
    worst: float
    where: str


def bounded_difference(
    factory: Callable[[], Loss],
    sizes: Sequence[int],
    *,
    rate: float = 0.5,
    low: float = -1.0,
    high: float = 1.0,
    draws: int = 20,
    seed: int = 0,
) -> list[BoundedDifference]:
    """|R(S) − R(S')| over lists S, S' of each of ``sizes`` that differ in one example.

    Scores lie between ``low`` and ``high``, the share ``rate`` of them is positive. ``factory``
    makes a fresh loss for every list, so that a memory starts with the list itself. The supremum
    over S, S' and the model is searched among ``draws`` random lists and among lists made to be
    fragile (all positives above all negatives, all positives equal, one negative above all), one
    example of which jumps to an end of the range or to a random score. Labels stay as they are.
    """
    if not low < high:
        raise ValueError(f"low must be below high, got low={low!r} and high={high!r}")
    generator = torch.Generator().manual_seed(seed)
    results = []
    for n in sizes:
        require_count("sizes", n)
        n_positives = round(rate * n)
        if not 0 < n_positives < n:
            raise ValueError(f"rate must leave both classes in a list of {n}, got {rate!r}")
        target = torch.arange(n) < n_positives

        def loss(scores: Tensor, target: Tensor = target) -> float:
            with torch.no_grad():
                return float(factory()(scores, target))

        span = _Span(n, n_positives, low, high, generator)
        changes: dict[str, list[float]] = {"random": []}
        for _ in range(draws):
            scores = span.uniform(n, low, high)
            changes["random"] += _changes(loss, scores, [span.replacement()])
        typical = mean_of(changes["random"])
        for kind, scores in span.fragile():
            changes[kind] = _changes(loss, scores, span.jumps())
        where = max(changes, key=lambda kind: max(changes[kind]))
        results.append(BoundedDifference(n, typical, max(changes[where]), where))
    return results


def loglog_slope(sizes: Sequence[int], differences: Sequence[float]) -> float:
    """Least-squares slope of log difference on log n: −1 is O(1/n), 0 is O(1)."""
    if len(sizes) != len(differences) or len(sizes) < 2:
        raise ValueError(
            f"differences must be as many as sizes, two or more, got {len(differences)} "
            f"for {len(sizes)} sizes"
        )
    if min(differences) <= 0:
        return math.nan
    x = torch.tensor(sizes, dtype=torch.float64).log()
    y = torch.tensor(differences, dtype=torch.float64).log()
    x = x - x.mean()
    return float((x * (y - y.mean())).sum() / (x**2).sum())


def _changes(
    loss: Callable[[Tensor], float], scores: Tensor, jumps: Iterable[tuple[int, float]]
) -> list[float]:
    """How far the loss is from that of ``scores`` when one item jumps to another score."""
    before, found = loss(scores), []
    for item, score in jumps:
        replaced = scores.clone()
        replaced[item] = score
        found.append(abs(loss(replaced) - before))
    return found


@dataclass(frozen=True)
class _Span:
    """The lists of one size: positives first."""

    n: int
    n_positives: int
    low: float
    high: float
    generator: torch.Generator

    def uniform(self, n: int, low: float, high: float) -> Tensor:
        return low + (high - low) * torch.rand(n, generator=self.generator, dtype=torch.float64)

    def replacement(self) -> tuple[int, float]:
        item = int(torch.randint(self.n, (), generator=self.generator))
        return item, float(self.uniform(1, self.low, self.high))

    def fragile(self) -> Iterator[tuple[str, Tensor]]:
        """Lists that one example can upset, with the names of their kinds."""
        middle, rest = (self.low + self.high) / 2, self.n - self.n_positives
        above = self.uniform(self.n_positives, middle, self.high)
        # A quarter of the range is left free: a surrogate of that width sees no error.
        below = self.uniform(rest, self.low, (self.low + middle) / 2)
        level = torch.full_like(above, middle)
        intruded = below.clone()
        intruded[-1] = self.high
        yield "separated", torch.cat([above, below])
        yield "separated, positives equal", torch.cat([level, below])
        yield "one negative above", torch.cat([above, intruded])
        yield "one negative above, positives equal", torch.cat([level, intruded])

    def jumps(self) -> Iterator[tuple[int, float]]:
        """A positive, an ordinary negative and the intruder (last), to both ends."""
        for item in (0, self.n_positives, self.n - 1):
            for score in (self.low, self.high):
                yield item, score
