"""The numbers of the study: bias by law, sampling rate and batch size; interpolation errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, Literal

from rankwise.theory import (
    SIMULATIONS,
    Bias,
    InterpolationError,
    Population,
    estimator_bias,
    interpolation_error,
    simulate,
)
from reproductions.frame import BasePlan, Setting

PRIOR = 0.1
RATES = (0.01, 0.02, 0.03, 0.1, 0.2)  # the five of the paper's Appendix B.2


@dataclass(frozen=True)
class Plan(BasePlan):
    """How much is computed."""

    QUICK: ClassVar = {
        "sizes": (500,),
        "draws": 60,
        "chains": 10,
        "burn_in": 60,
        "counts": (20, 50, 100),
        "points": (10, 100, 1000),
    }
    DRAWS = "draws"

    sizes: tuple[int, ...] = (500, 1000, 2000)
    draws: int = 500
    chains: int = 25
    burn_in: int = 100
    population: int = 100_000
    counts: tuple[int, ...] = (20, 50, 100, 200, 400)  # n⁺ of the interpolation
    points: tuple[int, ...] = (10, 30, 100, 300, 1000)  # M of the interpolation


@dataclass(frozen=True)
class Measured:
    """Everything measured, by the name of the law."""

    plan: Plan
    populations: dict[str, Population]
    biases: dict[str, list[Bias]]
    by_count: dict[str, list[InterpolationError]]  # n⁺ varies, M is the largest
    by_points: dict[str, list[InterpolationError]]  # M varies, n⁺ is 100


def measure(plan: Plan, setting: Setting) -> Measured:
    """Draw the batches and take the errors."""
    populations = {
        name: simulate(name, size=plan.population, prior=PRIOR, seed=setting.seed + number)
        for number, name in enumerate(SIMULATIONS)
    }
    work = list(product(populations, plan.sizes, RATES))

    def one(key: tuple[str, int, float]) -> list[Bias]:
        name, size, rate = key
        return estimator_bias(
            populations[name],
            rate=rate,
            size=size,
            draws=plan.draws,
            chains=plan.chains,
            burn_in=plan.burn_in,
            seed=setting.seed + 1000 + work.index(key),
        )

    biases: dict[str, list[Bias]] = {name: [] for name in populations}
    found = setting.each(plan, work, "drawing batches", one, list[Bias])
    for (name, _, _), rows in zip(work, found, strict=True):
        biases[name] += rows
    laws = {name: positives for name, (positives, _) in SIMULATIONS.items()}
    most = max(plan.points)
    return Measured(
        plan,
        populations,
        biases,
        {
            name: [interpolation_error(law, n, points=most, seed=setting.seed) for n in plan.counts]
            for name, law in laws.items()
        },
        {
            name: [interpolation_error(law, 100, points=m, seed=setting.seed) for m in plan.points]
            for name, law in laws.items()
        },
    )


@dataclass(frozen=True)
class Verdict:
    """The claim for one law and size, over the rates that are not the prior."""

    law: str
    size: int
    truth: float
    batch_ap: tuple[float, float]  # bias at the lowest and at the highest rate
    largest: dict[str, float]  # |bias| by estimator
    ratio: float  # the largest |bias of SOPRC| / |bias of batch AP|
    error: float  # standard error of that ratio's numerator over its denominator
    signs: bool  # whether the bias of batch AP has the sign of π − π₀ everywhere

    @property
    def holds(self) -> Literal["yes", "open", "no"]:
        """No ratio above one fifth; above it by no more than chance allows; or refuted."""
        if not self.signs or not self.ratio <= 0.2 + 3 * self.error:
            return "no"
        return "yes" if self.ratio <= 0.2 else "open"


def verdicts(biases: dict[str, list[Bias]]) -> list[Verdict]:
    """The claim of the study, law by law and size by size."""
    found = []
    for law, rows in biases.items():
        for size in sorted({row.size for row in rows}):
            away = [row for row in rows if row.size == size and row.rate != PRIOR]
            found.append(_verdict(law, size, away))
    return found


def _verdict(law: str, size: int, away: Sequence[Bias]) -> Verdict:
    by_name: dict[str, dict[float, Bias]] = {}
    for row in away:
        by_name.setdefault(row.estimator, {})[row.rate] = row
    plain, ours = by_name["batch AP"], by_name["SOPRC"]
    ratios = {rate: _over(abs(ours[rate].bias), abs(plain[rate].bias)) for rate in plain}
    worst = max(ratios, key=ratios.__getitem__)
    return Verdict(
        law=law,
        size=size,
        truth=away[0].truth,
        batch_ap=(plain[min(plain)].bias, plain[max(plain)].bias),
        largest={n: max(abs(b.bias) for b in by_rate.values()) for n, by_rate in by_name.items()},
        ratio=ratios[worst],
        error=_over(ours[worst].estimate.standard_error, abs(plain[worst].bias)),
        signs=all(row.bias * (PRIOR - rate) > 0 for rate, row in plain.items()),
    )


def _over(part: float, whole: float) -> float:
    """A ratio of two sizes; infinite over nothing, which is no fifth of anything."""
    return part / whole if whole else math.inf
