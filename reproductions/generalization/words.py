"""The sentences of the report, all made from the numbers of the run."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankwise.pairs import OneSidedHuber
from rankwise.theory import Mean, mean_of
from reproductions.generalization.analysis import (
    BOUNDS,
    DELTA,
    Bounded,
    Paired,
    examples_needed,
    predicted,
    sign,
    slope,
)
from reproductions.generalization.losses import METRICS, TAU
from reproductions.generalization.measure import Cell, Measured
from reproductions.generalization.plan import Axis
from reproductions.generalization.problems import Problem
from reproductions.generalization.twins import TWIN_LOSSES, Twins
from reproductions.sentences import share


def of_slopes(measured: Measured, problem: Problem, axis: Axis) -> str:
    """Say how the gaps fall along an axis, against the rates."""
    rates = predicted(measured.plan, axis, problem.features)
    parts = [
        f"By {axis}, 1/N⁺ + 1/N⁻ has the slope {rates.fast:+.2f} over these sizes and its square "
        f"root {rates.slow:+.2f}."
    ]
    for quantity in ("expected gap", "mean |gap|", "excess risk"):
        all_found = {n: slope(measured, problem.name, axis, n, quantity) for n in METRICS}
        found = {name: fit for name, fit in all_found.items() if fit and math.isfinite(fit.value)}
        if not found:
            continue
        steep = min(found, key=lambda name: found[name].value)
        flat = max(found, key=lambda name: found[name].value)
        said = [
            f"contains the first in {_within(found, rates.fast)}",
            f"contains the second in {_within(found, rates.slow)}",
            f"is below the second in {_below(found, rates.slow)}",
        ]
        parts.append(
            f"The {quantity} has slopes from {found[steep].value:+.2f} ({steep}) to "
            f"{found[flat].value:+.2f} ({flat}); the 95 % interval {said[0]}, {said[1]} and "
            f"{said[2]} of {len(found)} losses."
        )
        without = [name for name, fit in all_found.items() if fit and name not in found]
        if without:
            parts.append(f"No slope, as a mean is not positive: {', '.join(without)}.")
    ends = {}
    for loss in METRICS:
        cells = measured.along(problem.name, axis, loss)
        ends[loss] = [mean_of(cell.test).value for cell in (cells[0], cells[-1])]
    loss = max(ends, key=lambda name: abs(math.log(ends[name][1] / ends[name][0])))
    parts.append(
        f"Between the smallest and the largest size the test risk itself changes most for {loss}, "
        f"from {ends[loss][0]:.3f} to {ends[loss][1]:.3f}."
    )
    return " ".join(parts)


def _within(found: dict[str, Mean], rate: float) -> int:
    return sum(abs(fit.value - rate) <= fit.half_width() for fit in found.values())


def _below(found: dict[str, Mean], rate: float) -> int:
    return sum(fit.value + fit.half_width() < rate for fit in found.values())


def in_short(paired: Sequence[Paired]) -> str:
    """Return the answer in one sentence."""
    gap = [sign(each.gap) for each in paired]
    return (
        "Losses made to be stable lose less quality from training data to new data than plain AP "
        f"in {share(gap.count(-1), len(gap))} comparisons, and more in {gap.count(1)}."
    )


def of_pairs(paired: Sequence[Paired], problem: str, loss: str) -> str:
    """Say whether a loss has a smaller gap of 1 − AP than plain AP."""
    rows = [each for each in paired if (each.problem, each.loss) == (problem, loss)]
    gap, test = [sign(each.gap) for each in rows], [sign(each.test) for each in rows]
    return (
        f"On {problem}, the gap of {loss} in 1 − AP is smaller than that of plain AP by more than "
        f"the interval of the paired difference at {gap.count(-1)} of {len(rows)} sizes and larger "
        f"at {gap.count(1)}; its 1 − AP on fresh lists is lower at {test.count(-1)} and higher at "
        f"{test.count(1)}."
    )


def limit_offset(cell: Cell) -> float:
    """Return how far the mean risk of fresh lists is from that of an infinite one."""
    return abs(mean_of(cell.test).value - mean_of(cell.limit).value)


def of_limits(cells: Sequence[Cell]) -> str:
    """Say how far a list of finite length is from an infinite one."""
    known = [cell for cell in cells if cell.limit]
    worst = max(known, key=limit_offset)
    largest = max(cell.size for cell in known)
    end = max((cell for cell in known if cell.size == largest), key=limit_offset)
    return (
        "The population risk of the theorems is that of fresh lists of the same length. An "
        "infinite list, at the exact quantiles of the two normal laws of w·x, differs from it by "
        f"at most {limit_offset(worst):.2g} ({worst.loss}, {worst.size} {worst.axis}), and by at "
        f"most {limit_offset(end):.2g} at the largest sizes ({end.loss}, {end.size} {end.axis})."
    )


def of_stable_ap(found: Sequence[Bounded], samples: int) -> list[str]:
    """Say where StableAP's bounds are vacuous."""
    n = len(found)
    ratios = [each.lemma_9 / BOUNDS.range for each in found]
    alone = [each.lemma_9_deviation / BOUNDS.range for each in found]
    second = [each.theorem_2 for each in found]
    third = [each.theorem_3.total for each in found]
    held = sum(each.held for each in found)
    return [
        f"Lemma 9, the uniform gap of the StableAP risk at δ = {DELTA:g}, is {min(ratios):,.0f} to "
        f"{max(ratios):,.0f} times the range of the loss ({BOUNDS.range:.2f}): {_vacuous(ratios)}. "
        f"The deviation term alone, for a class of complexity 0, is {min(alone):,.0f} to "
        f"{max(alone):,.0f} times the range; it reaches the range at n⁺ = n⁻ = "
        f"{examples_needed():.1e}. The largest gap measured is "
        f"{max(each.largest for each in found):.2g}.",
        f"Theorem 2 bounds 1 − AP, at most 1, by {min(b.total for b in second):,.0f} to "
        f"{max(b.total for b in second):,.0f}: {_vacuous([b.total for b in second])}. Its term of "
        f"the training risk alone, (q²/2)·R̂ with q = {BOUNDS.q:.2f}, is "
        f"{min(b.empirical for b in second):.2f} to {max(b.empirical for b in second):.2f} and "
        f"exceeds 1 at {sum(b.empirical > 1 for b in second)} of {n} sizes. The bound holds in "
        f"{held} of {n * samples} samples.",
        f"Theorem 3 with the constants of its proof is {min(third):.1e} to {max(third):.1e}: "
        f"{_vacuous(third)}.",
    ]


def _vacuous(ratios: Sequence[float]) -> str:
    count = sum(ratio > 1 for ratio in ratios)
    return f"vacuous at {count} of {len(ratios)} sizes"


def pap_constant(found: Sequence[Bounded]) -> float:
    """Return the smallest constant of pAp@k's Theorem 2 that all samples agree with."""
    return max(each.pap_gap / each.pap_rate for each in found)


def of_pap(found: Sequence[Bounded]) -> str:
    """Say what pAp@k's Theorem 2 says without its constant."""
    needed = pap_constant(found)
    rates = [each.pap_rate for each in found]
    return (
        "pAp@k's Theorem 2 has a constant C that the paper does not give. Without it, the rate is "
        f"{min(rates):.2f} to {max(rates):.2f}, against a range of 1: with C = 1 "
        f"{_vacuous(rates)}. The largest gap of 1 − pAp@k over all samples and surrogates is "
        f"{max(each.pap_gap for each in found):.2g}; these samples agree with any C ≥ {needed:.2g}."
    )


def range_of(loss: str) -> float:
    """Return the length of the range of a loss for scores in [−1, 1]."""
    if loss == "AUC":
        return OneSidedHuber(TAU).maximum(-2.0, 2.0)
    return BOUNDS.range if loss == "StableAP" else 1.0


def of_twins(twins: Sequence[Twins]) -> list[str]:
    """Say how SOPRC's Theorem 1 compares with the gap it bounds."""
    said = []
    for loss in TWIN_LOSSES:
        rows = [each for each in twins if each.loss == loss]
        ratios = [each.bound / range_of(loss) for each in rows]
        last = max(rows, key=lambda each: each.n_positives)
        gap = mean_of(last.centered)
        said.append(
            f"{loss}: {_vacuous(ratios)}; at N⁺ = {last.n_positives} the bound is "
            f"{last.bound:.2g} and the gap {gap.value:.2g} ± {gap.half_width():.1g}."
        )
    broken = sum(
        mean_of(each.centered).value - mean_of(each.centered).half_width() > each.bound
        for each in twins
    )
    checked = f"The interval of the gap lies above the bound in {broken} of {len(twins)} rows."
    return [" ".join(said), checked]
