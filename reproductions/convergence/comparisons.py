"""What is compared in words: pairs of trainings, the floor of the gradient, bounds of lemmas."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rankwise.theory import Mean, mean_of
from reproductions.convergence.fits import BIASED, means, paired, points, select, variants
from reproductions.convergence.plan import (
    BATCH,
    BOTH,
    MOMENTUM,
    PLAIN,
    PROOF,
    REDUCED,
    Measured,
    Row,
)

NAMES = {"gradient": "mean ‖∇e‖²", "excess": "excess risk", "memory": "mean (μ̂ − μ⁺)²"}


@dataclass(frozen=True)
class Comparison:
    """The mean difference of a quantity, paired by data set."""

    part: str
    between: str
    quantity: str
    difference: Mean


@dataclass(frozen=True)
class Floor:
    """‖∇‖² at the end of the longest training beside the squared bias of a batch's gradient."""

    loss: str
    bias: Mean
    gradient: Mean

    @property
    def ratio(self) -> float:
        """Return how many times the squared bias is left."""
        return self.gradient.value / self.bias.value if self.bias.value else math.nan


@dataclass(frozen=True)
class Limit:
    """Measured/bound of a lemma over all means."""

    lemma: str
    violations: int
    means: int
    smallest: float
    largest: float


def comparisons(measured: Measured) -> list[Comparison]:
    """Return all pairs that the report talks about."""
    last, ss = max(measured.plan.horizons), measured.plan.ss
    found = []

    def add(part: str, between: str, rows: list[Row], others: list[Row], field: str) -> None:
        apart = paired(rows, others, field)
        found.append(Comparison(part, between, NAMES[field], apart))

    ours = at(measured, "T", REDUCED, last)
    for field in ("gradient", "memory"):
        plain = at(measured, "T", PLAIN, last)
        add("T", f"T = {last}, {PLAIN} less {REDUCED}", plain, ours, field)
        add(
            "T", f"T = {last}, {BOTH} less n⁺ = {BATCH}", at(measured, "T", BOTH, last), ours, field
        )
    heavy, nesterov = min(ss), max(ss)
    rules = variants(measured, "s")
    for field in ("gradient", "excess"):
        for rule in rules:
            rows, others = (at(measured, "s", rule, s) for s in (nesterov, heavy))
            between = f"β = {MOMENTUM:g}, {rule}, s = {nesterov:g} less s = {heavy:g}"
            add("s", between, rows, others, field)
        printed, proven = (at(measured, "s", rule, heavy) for rule in reversed(rules))
        add("s", f"s = {heavy:g}, {rules[1]} less {rules[0]}", printed, proven, field)
    return found


def floors(measured: Measured) -> list[Floor]:
    """Return the floor of both losses, for the usual batch."""
    last, found = max(measured.plan.horizons), []
    for name, experiment, variant in (("StableAP", "T", REDUCED), ("SOPRC", "T, SOPRC", PROOF)):
        bias = means(points(measured, f"{BIASED}, {name}")).get(float(BATCH))
        if bias is not None:
            ends = [row.gradient_end for row in at(measured, experiment, variant, last)]
            found.append(Floor(name, bias, mean_of(ends)))
    return found


def limits(measured: Measured) -> list[Limit]:
    """Return how the means stand to Lemmas 14 and 15."""
    rows = [row for row in measured.rows if not math.isnan(row.limit)]
    found = []
    for name, value, limit in (
        ("Lemma 14, mean ‖θ_{k+1} − θ_k‖²", "moved", "limit_moved"),
        ("Lemma 15, mean (μ̂ − μ⁺)²", "memory", "limit"),
    ):
        ratios = [getattr(row, value) / getattr(row, limit) for row in rows]
        over = sum(ratio > 1 for ratio in ratios)
        found.append(Limit(name, over, len(ratios), min(ratios), max(ratios)))
    return found


def at(measured: Measured, experiment: str, variant: str, x: float) -> list[Row]:
    """Return the rows of one place of a line, one for each data set."""
    return [row for row in select(measured, experiment, variant) if row.x == x]
