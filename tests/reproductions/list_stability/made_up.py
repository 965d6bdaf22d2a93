"""What a study of list stability would have measured, by rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rankwise.theory import (
    BoundedDifference,
    Check,
    LossConstants,
    Mean,
    Stability,
    Verdict,
)
from reproductions.list_stability.inequalities import Tested
from reproductions.list_stability.measure import Constants, Measured, Plan, Twin, work_of

PLAN = Plan(
    steps=(5, 20),
    n_positives=(20, 80),
    batch_positives=(4, 8),
    batch_negatives=(12, 24),
    scales=(0.1, 1.0),
    repeats=3,
    draws=400,
    sizes=(64, 256),
    checked=("cross-entropy", "highest negative"),
)


def rule(steps: int, batch: int, total: int) -> float:
    """ε = T^0.2 · n^0.1 / N."""
    return steps**0.2 * batch**0.1 / total


def measured(
    distance: Callable[[int, int, int], float] = rule, noise: float = 0.0, violations: int = 0
) -> Measured:
    """Twins of every training by the rule, of a negative half as far, v twice as far."""
    twins = []
    for loss, scale, n, positives, negatives in work_of(PLAN):
        for repeat in range(PLAN.repeats):
            for steps in PLAN.steps:
                factor = 1 + noise * (repeat - 1) * (1 if steps == 5 else -1)
                above = factor * distance(steps, positives, n)
                below = factor * distance(steps, negatives, n) / 2
                places = (loss, scale, n, positives, negatives, repeat, steps)
                twins.append(Twin(*places, above, below, 2 * above, 2 * below, 0.5))
    constants = Constants(LossConstants(0.9, 1.5, smoothness=40.0, smoothness_far=10.0), 4.0, 39.0)
    tested = [
        Tested("StableAP, Theorem 1", "Hinge(margin=1.0)", True, 400, violations, 0.7),
        Tested("StableAP, Theorem 1", "Logistic(scale=1.0)", False, 400, 9, 0.8),
        Tested("StableAP, Theorem 1, exponent −1/2 as printed", "Hinge", True, 400, 33, 1.2),
    ]
    return Measured(PLAN, twins, constants, tested, [_check("cross-entropy", True)])


def _check(name: str, holds: bool) -> Check:
    mean = Mean(0.01, 0.001, 3)
    return Check(
        name,
        LossConstants(1.0, 2.0, 3.0, 3.0),
        [BoundedDifference(n, Mean(1 / n, 0.0, 2), 2 / n, "random") for n in PLAN.sizes],
        [Stability(n, 30, mean, mean, mean, mean) for n in (25, 100)],
        0.5,
        {"deviation": 0.1},
        [Verdict("bounded differences are O(1/n)", holds, "slope -1.00")],
    )


def with_verdicts(values: Measured, verdicts: dict[str, bool | None]) -> Measured:
    """The same with checks of these names and verdicts."""
    first = Verdict("bounded differences are O(1/n)", None, "")
    checks = [
        replace(_check(name, True), verdicts=[replace(first, holds=holds)])
        for name, holds in verdicts.items()
    ]
    return replace(values, checks=checks)
