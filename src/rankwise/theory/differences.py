"""Bounded differences: the change of a loss when one example is replaced."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import torch
from torch import Tensor

from rankwise.checks import require_count
from rankwise.theory.summary import Mean, mean_of

Loss = Callable[[Tensor, Tensor], Tensor]
"""A loss of scores and 0/1 targets, as every objective and baseline is."""


@dataclass(frozen=True)
class BoundedDifference:
    """Changes of a loss of lists of one size when one example is replaced.

    Attributes:
        n: Size of the lists.
        typical: Mean over random lists and random replacements.
        worst: Largest change that was found, a lower bound of the constant c.
        where: Kind of list in which it was found.

    Example:
        >>> from rankwise.objectives import PairwiseAUC
        >>> from rankwise.theory import bounded_difference
        >>> [found] = bounded_difference(PairwiseAUC, [20], draws=2)
        >>> found.n, found.typical.value <= found.worst
        (20, True)
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
    """Measure |R(S) − R(S')| over lists S, S' that differ in one example.

    The supremum over S, S' and the model is searched among random lists and among fragile lists
    (all positives above all negatives, all positives equal, one negative above all), one example of
    which moves to an end of the range or to a random score. Labels stay as they are.

    Args:
        factory: Makes a fresh loss for every list, so that a memory starts with the list itself.
        sizes: Sizes of the lists.
        rate: Share of positives.
        low, high: Range of the scores.
        draws: Number of random lists of each size.
        seed: Seed of the lists.

    Returns:
        The changes for each size.

    Example:
        >>> from rankwise.objectives import PairwiseAUC
        >>> from rankwise.theory import bounded_difference
        >>> [round(found.worst, 2) for found in bounded_difference(PairwiseAUC, [20, 200], draws=2)]
        [0.4, 0.04]

    Reference:
        StableAP, Definition 1.
    """
    if not low < high:
        raise ValueError(f"low must be below high, got low={low!r} and high={high!r}")
    generator = torch.Generator().manual_seed(seed)

    def uniform(n: int, low: float = low, high: float = high) -> Tensor:
        return low + (high - low) * torch.rand(n, generator=generator, dtype=torch.float64)

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

        changes: dict[str, list[float]] = {"random": []}
        for _ in range(draws):
            scores, item = uniform(n), int(torch.randint(n, (), generator=generator))
            changes["random"] += _changes(loss, scores, [(item, float(uniform(1)))])
        typical = mean_of(changes["random"])
        # A positive, a negative and the outlier (last) move to both ends.
        jumps = list(product((0, n_positives, n - 1), (low, high)))
        for kind, scores in _fragile(uniform, n_positives, n - n_positives, low, high):
            changes[kind] = _changes(loss, scores, jumps)
        where = max(changes, key=lambda kind: max(changes[kind]))
        results.append(BoundedDifference(n, typical, max(changes[where]), where))
    return results


def loglog_slope(sizes: Sequence[int], differences: Sequence[float]) -> float:
    """Compute the least-squares slope of log difference on log n: −1 is O(1/n), 0 is O(1).

    Args:
        sizes: Two or more sizes n.
        differences: One difference for each size.

    Returns:
        The slope, NaN where a difference is not positive or all sizes are equal.

    Example:
        >>> from rankwise.theory import loglog_slope
        >>> round(loglog_slope([10, 100], [0.1, 0.01]), 4)
        -1.0
    """
    return loglog_fit(sizes, differences).value


def loglog_fit(sizes: Sequence[int], values: Sequence[float] | Sequence[Mean]) -> Mean:
    """Compute the least-squares slope of log value on log n with its standard error.

    Args:
        sizes: Two or more sizes n.
        values: One value for each size. The error of the slope follows from the errors of means,
            and for numbers from their residuals, of which two sizes have none.

    Returns:
        The slope; its value is NaN where a value is not positive.

    Example:
        >>> from rankwise.theory import loglog_fit
        >>> fit = loglog_fit([1, 10, 100], [1.0, 0.2, 0.01])
        >>> round(fit.value, 3), round(fit.standard_error, 3)
        (-1.0, 0.174)
    """
    if len(sizes) != len(values) or len(sizes) < 2:
        raise ValueError(
            f"differences must be as many as sizes, two or more, got {len(values)} "
            f"for {len(sizes)} sizes"
        )
    means = [each if isinstance(each, Mean) else Mean(each, math.nan, 0) for each in values]
    heights = [mean.value for mean in means]
    x, y = (torch.tensor(each, dtype=torch.float64).log() for each in (sizes, heights))
    apart, height = x - x.mean(), y - y.mean()
    spread = apart.square().sum()
    slope = float(apart @ height / spread)
    if means[0].n:
        relative = torch.tensor([m.standard_error / (m.value or math.nan) for m in means])
        return Mean(slope, float((apart * relative).norm() / spread), min(m.n for m in means))
    degrees = len(sizes) - 2
    residual = (height - slope * apart).norm()
    error = float(residual / (degrees * spread).sqrt()) if degrees else math.nan
    return Mean(slope, error, degrees + 1)  # Student's degrees are one less than n


def _changes(
    loss: Callable[[Tensor], float], scores: Tensor, jumps: Iterable[tuple[int, float]]
) -> list[float]:
    """Return the changes of the loss when one item moves to another score."""
    before, found = loss(scores), []
    for item, score in jumps:
        replaced = scores.clone()
        replaced[item] = score
        found.append(abs(loss(replaced) - before))
    return found


def _fragile(
    uniform: Callable[..., Tensor], n_positives: int, n_negatives: int, low: float, high: float
) -> Iterator[tuple[str, Tensor]]:
    """Yield fragile lists, positives first, with the names of their kinds."""
    middle = (low + high) / 2
    above = uniform(n_positives, middle, high)
    # A quarter of the range is left free: a surrogate of that width sees no error.
    below = uniform(n_negatives, low, (low + middle) / 2)
    level = torch.full_like(above, middle)
    intruded = below.clone()
    intruded[-1] = high
    yield "separated", torch.cat([above, below])
    yield "separated, positives equal", torch.cat([level, below])
    yield "one negative above", torch.cat([above, intruded])
    yield "one negative above, positives equal", torch.cat([level, intruded])
