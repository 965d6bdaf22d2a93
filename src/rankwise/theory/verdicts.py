"""Verdicts on a loss, each from the numbers measured of it, and all of them as a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from rankwise.pairs import Surrogate
from rankwise.theory.constants import LossConstants
from rankwise.theory.differences import BoundedDifference, loglog_fit
from rankwise.theory.stability import Stability
from rankwise.theory.stable_ap_inequalities import (
    stable_ap_lemma_3,
    stable_ap_lemma_8,
    stable_ap_theorem_1,
)
from rankwise.theory.summary import Mean

_NEARLY = 0.15  # a slope within this of −1 is O(1/n), within this of 0 O(1)


@dataclass(frozen=True)
class Verdict:
    """Whether a loss has a property, and the numbers that say so.

    Attributes:
        claim: The property.
        holds: Whether the loss has it, as far as was found; None where the numbers leave it open.
        found: The numbers.

    Example:
        >>> from rankwise.theory import Verdict
        >>> print(Verdict("bounded differences are O(1/n)", True, "slope -0.98 ± 0.03"))
        bounded differences are O(1/n): yes (slope -0.98 ± 0.03)
    """

    claim: str
    holds: bool | None
    found: str

    @property
    def word(self) -> str:
        """Return yes, no or open."""
        return {True: "yes", False: "no", None: "open"}[self.holds]

    def __str__(self) -> str:
        return f"{self.claim}: {self.word} ({self.found})"


@dataclass(frozen=True)
class Check:
    """Constants, bounds and verdicts of one loss; printed as a table.

    Attributes:
        objective: Name of the loss.
        constants: B, G and L of the loss of a small model.
        differences: Largest changes when one example is replaced, for each size n.
        stabilities: Distances of twin models, for each number N⁺ of positives.
        factor: a, the largest (1 − AP)/loss found: a times the loss bounds the metric's risk.
        bounds: Bounds that follow from these constants, by name.
        verdicts: Properties that the loss has, or does not have.
        complexities: Pairwise Rademacher complexity of linear scores for the two smallest sizes,
            for a loss with a pairwise surrogate.

    Example:
        >>> from rankwise.theory import check
        >>> def top(scores, target):  # moved by one example, however long the list
        ...     return scores[~target].max() - scores[target].mean()
        >>> found = check(top, sizes=(20, 80), draws=5, repeats=2)
        >>> found.verdicts[0].claim, found.verdicts[0].holds
        ('bounded differences are O(1/n)', False)
    """

    objective: str
    constants: LossConstants
    differences: Sequence[BoundedDifference]
    stabilities: Sequence[Stability]
    factor: float
    bounds: Mapping[str, float]
    verdicts: Sequence[Verdict]
    complexities: Sequence[Mean] = ()

    def __str__(self) -> str:
        c, last, twins = self.constants, self.differences[-1], self.stabilities[-1]
        found = {
            "B: largest |loss|": c.value,
            "G: largest norm of the gradient": c.gradient,
            "L: largest slope of the gradient": c.smoothness,
            f"c: largest change by one of {last.n:,} examples": last.worst,
            f"ε⁺: distance of models, one of {twins.n_positives:,} positives replaced": (
                twins.positive.value
            ),
            "ε⁻: the same, a negative replaced": twins.negative.value,
            "a: largest (1 − AP)/loss": self.factor,
        }
        if self.complexities:
            n = self.differences[len(self.complexities) - 1].n
            found[f"pairwise Rademacher complexity, n = {n:,}"] = self.complexities[-1].value
        width = max(map(len, [*found, *self.bounds, *(v.claim for v in self.verdicts)]))
        rows = [self.objective, "", f"{'constant':<{width}}  found"]
        rows += [f"{name:<{width}}  {value:.3g}" for name, value in found.items()]
        rows += ["", f"{'bound':<{width}}  with these constants"]
        for name, value in self.bounds.items():
            vacuous = "" if value < c.value else "  (vacuous: not below B)"
            rows.append(f"{name:<{width}}  {value:.3g}{vacuous}")
        rows += ["", f"{'verdict':<{width}}"]
        rows += [f"{v.claim:<{width}}  {v.word} ({v.found})" for v in self.verdicts]
        return "\n".join(row.rstrip() for row in rows)


def differences_fall(found: Sequence[BoundedDifference]) -> Verdict:
    """Decide by the slope between the two largest sizes, since 1/n is asymptotic."""
    claim = "bounded differences are O(1/n)"
    sizes, worst = [d.n for d in found], [d.worst for d in found]
    if worst[-1] == 0:
        return Verdict(claim, True, f"no change at n = {sizes[-1]:,}")
    end = loglog_fit(sizes[-2:], worst[-2:]).value
    said = f"slope {end:+.2f} between n = {sizes[-2]:,} and {sizes[-1]:,}"
    if len(sizes) > 2:
        said += f", {interval(loglog_fit(sizes, worst))} from {sizes[0]:,} on"
    if end <= -1 + _NEARLY:
        return Verdict(claim, True, f"{said}, c = {worst[-1] * sizes[-1]:.3g}/n")
    holds = False if end >= -_NEARLY else None
    return Verdict(claim, holds, f"{said}, c = {worst[-1]:.3g} at the end")


def gradient_is_lipschitz(constants: LossConstants) -> Verdict:
    """Decide by whether the gradient is as smooth at a small distance as at a large one."""
    far, largest = constants.smoothness_far, constants.smoothness
    said = f"L = {far:.3g} at distance 0.1, {largest:.3g} with smaller ones"
    return Verdict("the gradient is Lipschitz", constants.is_smooth, said)


def models_are_stable(found: Sequence[Stability]) -> Verdict:
    """Decide by the intervals of the slopes of ε⁺ and ε⁻ in N: below 0 or not."""
    counts, parts, below = [s.n_positives for s in found], [], []
    for name, means in (("ε⁺", [s.positive for s in found]), ("ε⁻", [s.negative for s in found])):
        if means[-1].value == 0:
            parts.append(f"{name} is 0")
            below.append(True)
            continue
        fit = loglog_fit(counts, means)
        parts.append(f"slope of {name} {interval(fit)}")
        below.append(fit.value + fit.half_width() < 0)
    # A slope with a wide interval decides nothing.
    return Verdict("model stability: ε falls with N", all(below) or None, ", ".join(parts))


def bounds_the_metric(factors: Tensor) -> Verdict:
    """Decide by (1 − AP)/loss of random lists."""
    above, largest = int((factors <= 1 + 1e-9).sum()), float(factors.max())
    said = f"in {above:,} of {len(factors):,} draws; {largest:.3g} times the loss does in all"
    if math.isinf(largest):
        said = f"in {above:,} of {len(factors):,} draws; no multiple of the loss does in all"
    return Verdict("the loss bounds 1 − AP", above == len(factors), said)


def complexity_falls(sizes: Sequence[int], found: Sequence[Mean]) -> Verdict:
    """Decide by the interval of the slope in n; StableAP's Theorem 5 has −1/2."""
    fit = loglog_fit(sizes, found)
    holds = fit.value + fit.half_width() < 0 or None
    said = f"slope {interval(fit)} between n = {sizes[0]:,} and {sizes[-1]:,}"
    return Verdict("pairwise Rademacher complexity falls", holds, said)


def inequalities_hold(
    surrogate: Surrogate,
    positives: Tensor,
    negatives: Tensor,
    width: float,
    settings: dict[str, float],
) -> list[Verdict]:
    """Count the lists in which StableAP's inequalities hold, with ε, a and t if known."""
    outer = {name: value for name, value in settings.items() if name == "epsilon"}
    verdicts = []
    for claim in (
        stable_ap_lemma_3(positives, negatives, surrogate, width=width),
        stable_ap_lemma_8(positives, negatives, surrogate, width=width, **settings),
        stable_ap_theorem_1(positives, negatives, surrogate, width=width, **outer),
    ):
        count, lists = int(claim.holds.sum()), claim.holds.numel()
        said = f"in {count:,} of {lists:,} draws"
        if not surrogate.bounds_above:
            said += f"; {surrogate!r} is not at least ℓ₀₁, as Theorem 1 assumes"
        verdicts.append(Verdict(f"{claim.name} holds", count == lists, said))
    return verdicts


def interval(fit: Mean) -> str:
    """Write a slope with half of its 95 % interval."""
    return f"{fit.value:+.2f} ± {fit.half_width():.2f}"
