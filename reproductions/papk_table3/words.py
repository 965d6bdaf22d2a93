"""What the report says of the cells, and how they are compared."""

from __future__ import annotations

from collections import Counter

import numpy as np

from rankwise.theory import Mean, mean_of
from reproductions.papk_table3.measure import BASELINES, OURS, Cell, Plan
from reproductions.sentences import standing

DIFFERS = (
    "The first table is not like for like with the published numbers. The paper does not say how a "
    "user with fewer than k negatives in the test part is evaluated; their number is given above. "
    "Here all the negatives there are count (k ≤ n⁻ is assumed where pAp@k is defined). The "
    "authors' code leaves such users out: the second table, of users with at least k, is the one "
    "to compare with the paper's. A random order stands in both.",
    "That code starts from a normal draw of the weights, not from 0, brings columns to their range "
    "in the training rows, and keeps the iterate with the lowest training loss; "
    "benchmarks.checks.papk_start repeats that.",
    "Columns are brought to mean 0 and spread 1 for every method: the scale of a factorization is "
    "arbitrary, and a step size in the paper's grid cannot be right for every scale.",
    "The paper has no logistic regression and starts everything at 0. The start at the logistic "
    "solution was added after a first look at one split, test rows included. It is given to every "
    "method alike.",
    "Greedy is the heuristic as Ricamato and Tortorella describe it, with pAp@k in place of AUC; "
    "the authors' own code, which is said to sum over the wrong axis there, was not looked at. "
    "SGD@k-avg and SVM-pAUC follow subgradients of all users, as the others do. The ramp "
    "surrogate, which the paper leaves out because it is not convex, is trained as well.",
)
HOW = (
    "For each k the surrogate and the start with the best mean on the validation rows are taken, "
    "and compared with every baseline at its own better start, chosen in the same way. Points of "
    "Micro-pAp@k, mean over the splits of the difference on the same split, ± half of the 95 % "
    "interval (Student), not corrected for the number of comparisons. The splits share their rows, "
    "so the interval is about splits and not about other users. From the logistic solution the "
    "start itself is among the iterates: methods whose best iterate it is have the same number."
)


def in_short(cells: list[Cell], plan: Plan) -> str:
    """Return the answer in one sentence."""
    counts = _counts(cells, plan)
    higher, lower = counts["higher"], counts["lower"]
    rest = counts.total() - higher - lower
    return (
        f"In {counts.total()} comparisons with other methods, the best of the paper's losses fills "
        f"the first places better in {higher} and worse in {lower}; the other {rest} may be chance."
    )


def _counts(cells: list[Cell], plan: Plan) -> Counter[str]:
    """Count where the best of ours stands to each baseline, at every k."""
    return Counter(
        standing(differences(cells, best_of(cells, tuple(OURS), k), best_of(cells, (name,), k), k))
        for k in plan.ks
        for name in BASELINES
    )


def outcome(cells: list[Cell], plan: Plan) -> list[str]:
    """How the best of ours stands to the baselines, and which settings were chosen."""
    counts = _counts(cells, plan)
    total = counts.total()
    behind = sum(
        cell_mean(cells, "logistic", "zero", k).value > cell_mean(cells, name, "zero", k).value
        for k in plan.ks
        for name in OURS
    )
    chosen = corner(cells, plan)
    return [
        f"By the 95 % interval the best of ours is above a baseline in {counts['higher']} of "
        f"{total} comparisons and below one in {counts['lower']}. From zero, the mean of logistic "
        f"regression is above that of a surrogate in {behind} of {len(plan.ks) * len(OURS)} cases.",
        f"Of our {chosen['of']:g} trainings from zero, {chosen['corner']:g} have chosen the "
        "largest η and the largest λ of the grid, where the ridge multiplies w by "
        f"{chosen['ridge']:.3g} in the first step.",
    ]


def corner(cells: list[Cell], plan: Plan) -> dict[str, float]:
    """How many of our trainings from zero chose the corner of the grid, and its ridge there."""
    own = [c for c in cells if c.method in OURS and c.start == "zero"]
    eta, lam = max(plan.etas), max(plan.lams)
    there = sum((c.eta, c.lam) == (eta, lam) for c in own)
    return {"of": len(own), "corner": there, "ridge": 1 - 2 * eta * lam}


def cell_mean(cells: list[Cell], name: str, start: str, k: int, part: str = "test") -> Mean:
    """The mean of a method over the splits, from a start at a k."""
    own = [c for c in cells if (c.method, c.start, c.k) == (name, start, k)]
    return mean_of([getattr(cell, part) for cell in own])


def best_of(cells: list[Cell], names: tuple[str, ...], k: int) -> tuple[str, str]:
    """Method and start with the best validation among these."""
    there = {(c.method, c.start) for c in cells if c.method in names and c.k == k}
    return max(
        sorted(there), key=lambda own: cell_mean(cells, own[0], own[1], k, "validation").value
    )


def differences(cells: list[Cell], ours: tuple[str, str], other: tuple[str, str], k: int) -> Mean:
    """The mean difference of two methods with their starts, on the same splits."""

    def by_split(own: tuple[str, str]) -> np.ndarray:
        there = [c for c in cells if (c.method, c.start, c.k) == (*own, k)]
        return np.array([c.test for c in sorted(there, key=lambda c: c.split)])

    return mean_of((by_split(ours) - by_split(other)).tolist())
