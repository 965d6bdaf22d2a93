"""What follows from the numbers: slopes with intervals, predicted rates, bounds beside gaps."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rankwise.theory import (
    Mean,
    RiskBound,
    StableAPBounds,
    excess_risk_rate,
    loglog_fit,
    loglog_slope,
    mean_of,
    pap_gap_rate,
)
from reproductions.generalization.losses import EPSILON, METRICS, PRIOR, RATE, TAU, top_of
from reproductions.generalization.measure import Cell, Measured
from reproductions.generalization.plan import Axis, Plan
from reproductions.generalization.problems import Gaussian

DELTA = 0.05
BOUNDS = StableAPBounds(PRIOR, tau=TAU, width=2.0, epsilon=EPSILON)

QUANTITIES: Mapping[str, Callable[[Cell], list[float]]] = {
    "expected gap": lambda cell: cell.centered,
    "mean |gap|": lambda cell: [abs(gap) for gap in cell.gaps],
    "excess risk": lambda cell: cell.excess,
}
"""Values of a cell, one for each sample, by the name of what their mean is."""


def slope(measured: Measured, problem: str, axis: Axis, loss: str, quantity: str) -> Mean | None:
    """Fit the log–log slope of the mean of a quantity; NaN where a mean is not positive.

    None where the quantity was not measured.
    """
    cells = measured.along(problem, axis, loss)
    values = [QUANTITIES[quantity](cell) for cell in cells]
    if not all(values):
        return None
    return loglog_fit([cell.size for cell in cells], [mean_of(each) for each in values])


@dataclass(frozen=True)
class Rates:
    """Slopes that the theory predicts over the sizes of an axis.

    ``fast`` is that of 1/N⁺ + 1/N⁻, ``middle`` Theorem 4 of SOPRC with λ = 1, ``slow`` that of
    √(1/n⁺ + 1/n⁻) and ``pap`` Theorem 2 of pAp@k, which is about one list (NaN for several).
    """

    fast: float
    middle: float
    slow: float
    pap: float


def predicted(plan: Plan, axis: Axis, features: int) -> Rates:
    """Return the slopes of the rates, fitted as the measured ones."""
    sizes = plan.sizes_of(axis)
    counts = [plan.counts(axis, size) for size in sizes]
    wholes = [(c.lists * c.positives, c.lists * c.negatives) for c in counts]
    inverse = [1 / a + 1 / b for a, b in wholes]
    return Rates(
        fast=loglog_slope(sizes, inverse),
        middle=loglog_slope(sizes, [excess_risk_rate(a, b, 1, 1) for a, b in wholes]),
        slow=loglog_slope(sizes, [math.sqrt(each) for each in inverse]),
        pap=math.nan
        if axis == "lists"
        else loglog_slope(sizes, [pap_rate(a, b, features) for a, b in wholes]),
    )


def pap_rate(n_positives: int, n_negatives: int, features: int) -> float:
    """Return the rate of pAp@k's Theorem 2, with the γ of the sample."""
    k = top_of(n_negatives)
    top = min(n_positives, k) / n_positives
    return pap_gap_rate(n_positives, n_negatives, RATE, top, dimension=features + 1, delta=DELTA)


@dataclass(frozen=True)
class Bounded:
    """StableAP's and pAp@k's bounds at one size, beside what was measured there."""

    axis: Axis
    size: int
    n_positives: int
    n_negatives: int
    gap: Mean  # of the StableAP risk
    largest: float  # gap of all samples
    complexity: Mean
    lemma_9: float
    lemma_9_deviation: float  # with a class of complexity 0
    theorem_2: RiskBound
    theorem_3: RiskBound
    risk: Mean  # 1 − AP of the StableAP models on fresh lists
    held: int  # samples whose 1 − AP is below the bound of Theorem 2
    pap_rate: float
    pap_gap: float  # largest gap of 1 − pAp@k, of all samples and surrogates


def bounded(measured: Measured) -> list[Bounded]:
    """Compute the bounds at every number of positives and of negatives."""
    found, problem = [], Gaussian()
    for each in measured.complexities:
        (cell,) = (c for c in _cells(measured, each.axis, each.size) if c.loss == "StableAP")
        n = (cell.n_positives, cell.n_negatives)
        train, complexity = mean_of(cell.train).value, each.value.value
        bound = BOUNDS.risk(train, *n, complexity, DELTA)
        pap = [c for c in _cells(measured, each.axis, each.size) if METRICS[c.loss] == "pAp@k"]
        found.append(
            Bounded(
                each.axis,
                each.size,
                *n,
                gap=mean_of(cell.gaps),
                largest=max(cell.gaps),
                complexity=each.value,
                lemma_9=BOUNDS.uniform_gap(*n, complexity, DELTA),
                lemma_9_deviation=BOUNDS.uniform_gap(*n, 0.0, DELTA),
                theorem_2=bound,
                theorem_3=BOUNDS.risk_by_covering(train, *n, problem.features, DELTA),
                risk=mean_of(cell.metric_test),
                held=sum(
                    test <= BOUNDS.risk(seen, *n, complexity, DELTA).total
                    for seen, test in zip(cell.train, cell.metric_test, strict=True)
                ),
                pap_rate=pap_rate(*n, problem.features),
                pap_gap=max(gap for c in pap for gap in c.metric_gaps),
            )
        )
    return found


def _cells(measured: Measured, axis: Axis, size: int) -> list[Cell]:
    place = (Gaussian().name, axis, size)
    return [c for c in measured.cells if (c.problem, c.axis, c.size) == place]


def examples_needed(range_: float = BOUNDS.range) -> float:
    """Return n⁺ = n⁻ at which Lemma 9's deviation alone falls to the range of the loss."""
    return (BOUNDS.uniform_gap(1, 1, 0.0, DELTA) / range_) ** 2


@dataclass(frozen=True)
class Paired:
    """Difference of a loss and plain AP on the same samples, in 1 − AP."""

    problem: str
    axis: Axis
    size: int
    loss: str
    gap: Mean  # test less training
    test: Mean


def against_plain_ap(measured: Measured, losses: Sequence[str]) -> list[Paired]:
    """Compare losses with plain AP, sample by sample."""
    found = []
    for cell in measured.cells:
        if cell.loss not in losses:
            continue
        plain = next(
            c for c in measured.along(cell.problem, cell.axis, "plain AP") if c.size == cell.size
        )
        gaps = [a - b for a, b in zip(cell.metric_gaps, plain.metric_gaps, strict=True)]
        test = [a - b for a, b in zip(cell.metric_test, plain.metric_test, strict=True)]
        place = (cell.problem, cell.axis, cell.size, cell.loss)
        found.append(Paired(*place, gap=mean_of(gaps), test=mean_of(test)))
    return found


def sign(mean: Mean) -> int:
    """Return −1, 0 or 1: below, within its interval of, or above 0."""
    half = mean.half_width()
    if not math.isfinite(half) or abs(mean.value) <= half:
        return 0
    return 1 if mean.value > 0 else -1
