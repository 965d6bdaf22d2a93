"""Exponents of what was measured, with their intervals, beside those of the papers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, linear_regression

from rankwise.theory import Mean, loglog_slope, mean_of
from reproductions.convergence.estimates import (
    BIAS_LAW,
    DECAY,
    ERROR_LAW,
    LAWS,
    MEAN_LAW,
)
from reproductions.convergence.plan import (
    CONSTANT,
    INVERSE,
    PLAIN,
    Estimate,
    Measured,
    Plan,
    Row,
)
from reproductions.convergence.problem import LOSSES

DELTA = 0.05  # δ of Proposition 4
UNPREDICTED = {CONSTANT, INVERSE, PLAIN}  # what no theorem is about
BIASED = "bias of the gradient"
SOURCES = {"StableAP": "StableAP, Assumption 3", "SOPRC": "SOPRC, Eq. 74–76"}
BOUND, LAW = "at most", "equal to"
QUANTITIES = {
    "gradient": "‖∇‖²",
    "excess": "excess risk",
    "memory": "squared error of the memory",
}


@dataclass(frozen=True)
class Fit:
    """One fitted exponent; ``kind`` says whether the paper's is a bound or a law."""

    source: str
    quantity: str
    axis: str
    variant: str
    slope: Mean
    predicted: float
    kind: str

    @property
    def verdict(self) -> str:
        """Return how the exponent stands to the paper's."""
        if math.isnan(self.predicted):
            return "no prediction"
        half, apart = self.slope.half_width(), self.slope.value - self.predicted
        if math.isnan(half) or math.isnan(apart):
            return "not measured"
        if abs(apart) <= half:
            return "agrees within the interval"
        if self.kind == BOUND and apart < 0:
            return "agrees: faster than the bound"
        return "does not agree: slower" if self.kind == BOUND else "does not agree"


def fits(measured: Measured) -> list[Fit]:
    """Fit every exponent that a paper predicts."""
    found = []
    for source, quantity, experiment, predicted in (
        ("StableAP, Theorem 4", "gradient", "T", -0.5),
        ("StableAP, Lemma 15", "memory", "T", -0.5),
        ("StableAP, Remark 7", "gradient", "n⁺", 0.0),
        ("SOPRC, Theorem 3", "excess", "T, SOPRC", -1.0),
        ("SOPRC, Theorem 3 with Eq. 16", "gradient", "T, SOPRC", -1.0),
        ("SOPRC, Theorem 3", "excess", "n⁺, SOPRC", 1.0),
    ):
        for variant in variants(measured, experiment):
            rows = select(measured, experiment, variant)
            slope = jackknife([(r.x, r.repeat, getattr(r, quantity)) for r in rows])
            axis = experiment.partition(",")[0]
            expected = math.nan if variant in UNPREDICTED else predicted
            found.append(Fit(source, QUANTITIES[quantity], axis, variant, slope, expected, BOUND))
    laws = (
        ("SOPRC, Proposition 1", LAWS["v"], "β/(2−β)", 1.0, LAW),
        ("StableAP, Lemma 15", LAWS["mu"], "λ/(2−λ)", 1.0, LAW),
        ("SOPRC, Proposition 1", MEAN_LAW, "T", math.log(1 - DECAY), LAW),
        ("SOPRC, Proposition 4", ERROR_LAW, "n⁺", estimate_exponent(measured.plan), BOUND),
        ("SOPRC, Proposition 4", BIAS_LAW, "n⁺", estimate_exponent(measured.plan), BOUND),
        *((SOURCES[n], f"{BIASED}, {n}", "n⁺", math.nan, BOUND) for n in LOSSES),
    )
    for source, law, axis, predicted, kind in laws:
        slope = jackknife(points(measured, law), semilog=law == MEAN_LAW)
        found.append(Fit(source, law, axis, "fixed model", slope, predicted, kind))
    return found


def estimate_exponent(plan: Plan) -> float:
    """Return the exponent that Proposition 4 has over the batches of the plan, with its logarithm.

    √(log(6n⁺/δ)/n⁺) + 2√(log(6n⁺/δ)/n⁻) with n⁻ = 3n⁺ is a constant times √(log(6n⁺/δ)/n⁺).
    """
    bound = [math.sqrt(math.log(6 * n / DELTA) / n) for n in plan.batches]
    return loglog_slope(plan.batches, bound)


def points(measured: Measured, claim: str) -> list[tuple[float, int, float]]:
    """Return place, repeat and value of one claim on a fixed model."""
    rows: list[Estimate] = [e for e in measured.estimates if e.claim == claim]
    return [(e.x, e.repeat, e.value) for e in rows]


def variants(measured: Measured, experiment: str) -> list[str]:
    """Return the variants of an experiment, as they were run."""
    return list(dict.fromkeys(r.variant for r in measured.rows if r.experiment == experiment))


def select(measured: Measured, experiment: str, variant: str) -> list[Row]:
    """Return the rows of one line of an experiment."""
    return [r for r in measured.rows if (r.experiment, r.variant) == (experiment, variant)]


def means(values: Sequence[tuple[float, int, float]]) -> dict[float, Mean]:
    """Return the means over data sets by place, ascending."""
    places = sorted({x for x, _, _ in values})
    return {place: mean_of([v for x, _, v in values if x == place]) for place in places}


def jackknife(values: Sequence[tuple[float, int, float]], *, semilog: bool = False) -> Mean:
    """Return the slope of the means over data sets, its error from leaving one out."""
    repeats = sorted({repeat for _, repeat, _ in values})

    def slope(left: int | None = None) -> float:
        kept = means([each for each in values if each[1] != left])
        if len(kept) < 2:
            return math.nan
        values_by_place = [mean.value for mean in kept.values()]
        if min(values_by_place) <= 0:
            return math.nan
        places = list(kept) if semilog else [math.log(x) for x in kept]
        return linear_regression(places, [math.log(v) for v in values_by_place]).slope

    n, whole = len(repeats), slope()
    if n < 2:
        return Mean(whole, math.nan, n)
    without = [slope(repeat) for repeat in repeats]
    center = fmean(without)
    error = math.sqrt((n - 1) / n * sum((each - center) ** 2 for each in without))
    return Mean(whole, error, n)


def paired(rows: Sequence[Row], others: Sequence[Row], field: str) -> Mean:
    """Return the mean difference of two lines at the same data sets."""
    before = {row.repeat: getattr(row, field) for row in others}
    return mean_of([getattr(row, field) - before[row.repeat] for row in rows])
