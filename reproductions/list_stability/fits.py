"""Exponents of the distances in T, n and N, and those that Theorem 2 predicts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean

from rankwise.theory import Mean, loglog_slope, mean_of, soprc_lambda
from reproductions.list_stability.measure import BATCH, Measured, Twin

SIDES = {"positive": "⁺", "negative": "⁻"}
AXES = ("T", "n", "N")


@dataclass(frozen=True)
class Fit:
    """The exponent of one distance along one axis, and that of Theorem 2."""

    loss: str
    scale: float
    distance: str  # ε⁺, ε⁻, v⁺ or v⁻
    axis: str  # T, n or N
    slope: Mean
    predicted: float  # NaN where the theorem says nothing

    @property
    def verdict(self) -> str:
        """Return where the exponent is: the theorem is an upper bound."""
        if math.isnan(self.predicted):
            return "–"
        half = self.slope.half_width()
        if math.isnan(self.slope.value) or math.isnan(half):
            return "not measured"
        apart = self.slope.value - self.predicted
        return (
            "equal within the interval" if abs(apart) <= half else "below" if apart < 0 else "above"
        )


def exponent(measured: Measured, scale: float, smoothness: float) -> float:
    """Return λ/(λ+1) of Theorem 2 for one C and one L."""
    lam = soprc_lambda(smoothness, scale, 1 / BATCH[0])
    return lam / (lam + 1)


def fits(measured: Measured) -> list[Fit]:
    """Fit every exponent; the predicted one has the smallest L measured, so it is the strictest."""
    found = []
    for loss, scale in dict.fromkeys((t.loss, t.scale) for t in measured.twins):
        most = exponent(measured, scale, measured.constants.measured.smoothness_far)
        for side, sign in SIDES.items():
            for kind, prefix in (("ε", ""), ("v", "memory_")):
                if kind == "v" and loss != "SOPRC":
                    continue
                for axis in AXES if loss == "SOPRC" else ("T", "N"):
                    rows = along(measured, loss, scale, side, axis)
                    predicted = -1.0 if axis == "N" else most
                    expected = loss == "SOPRC" and kind == "ε"
                    slope = jackknife(rows, place(side, axis), prefix + side)
                    row = (kind + sign, axis, slope, predicted if expected else math.nan)
                    found.append(Fit(loss, scale, *row))
    return found


def along(measured: Measured, loss: str, scale: float, side: str, axis: str) -> list[Twin]:
    """Return the twins of one loss in which only that axis varies."""
    least, last = min(measured.plan.n_positives), max(measured.plan.steps)
    fixed = {
        "n_positives": least,
        "batch_positives": BATCH[0],
        "batch_negatives": BATCH[1],
        "steps": last,
    }
    del fixed[place(side, axis)]
    rows = [t for t in measured.twins if (t.loss, t.scale) == (loss, scale)]
    return [t for t in rows if all(getattr(t, name) == value for name, value in fixed.items())]


def place(side: str, axis: str) -> str:
    """Return the field of a twin that an axis varies: N⁻ grows with N⁺."""
    return {"T": "steps", "N": "n_positives", "n": f"batch_{side}s"}[axis]


def jackknife(rows: list[Twin], axis: str, field: str) -> Mean:
    """Return the slope of the mean over data sets, its error from leaving one out."""
    repeats = sorted({row.repeat for row in rows})

    def slope(left: int | None = None) -> float:
        kept = curve([row for row in rows if row.repeat != left], axis, field)
        return loglog_slope(list(kept), list(kept.values())) if len(kept) > 1 else math.nan

    whole = slope()
    n = len(repeats)
    if n < 2:
        return Mean(whole, math.nan, n)
    without = [slope(repeat) for repeat in repeats]
    center = fmean(without)
    error = math.sqrt((n - 1) / n * sum((each - center) ** 2 for each in without))
    return Mean(whole, error, n)


def curve(rows: list[Twin], axis: str, field: str) -> dict[int, float]:
    """Return the mean distance by the values of an axis, ascending."""
    return {x: mean.value for x, mean in means(rows, axis, field).items()}


def means(rows: list[Twin], axis: str, field: str) -> dict[int, Mean]:
    """Return means over data sets by the values of an axis, ascending."""
    places = sorted({getattr(row, axis) for row in rows})
    return {x: mean_of([getattr(t, field) for t in rows if getattr(t, axis) == x]) for x in places}
