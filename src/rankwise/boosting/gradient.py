"""Gradient of an objective at every row, and a positive curvature, which boosters divide by."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from rankwise.baselines.pointwise import PointwiseObjective
from rankwise.checks import require_one_of
from rankwise.objectives import Objective
from rankwise.objectives._batch import CallArguments, read_batch
from rankwise.pairs import Surrogate
from rankwise.pairs.forms import Piece

Floats = NDArray[np.float64]
Matrix: TypeAlias = Any  # a numpy array or a scipy CSR array, which share no type


@dataclass(frozen=True)
class Rows:
    """Targets of rows, their weights and the number of the list each belongs to; features."""

    target: Floats
    weight: Floats | None = None  # None: every row counts once
    groups: NDArray[np.int64] | None = None  # None: all rows are one list
    X: Matrix = None  # where trees are grown on the rows
    round: int = 0  # number of trees so far, by which noise is drawn

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Whether a row is relevant."""
        return relevant(self.target)

    @property
    def share(self) -> Floats | NDArray[np.bool_]:
        """The probability of being relevant that log-loss fits: y/max y of graded relevances."""
        highest = self.target.max(initial=0.0)
        graded = bool(((self.target != 0) & (self.target != 1)).any())
        return self.target / highest if graded else self.positive


class BoosterData(Protocol):
    """The data set of a booster: a ``lightgbm.Dataset`` or an ``xgboost.DMatrix``."""

    def get_label(self) -> ArrayLike:
        """Return the targets."""

    def get_weight(self) -> Floats | None:
        """Return the weights of the rows, or of the lists; LightGBM has None for no weights."""


def relevant(target: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Return which rows count as positive: those above 0.

    Where none is 0, as in relevances that are estimates, those above the mean.
    """
    above: NDArray[np.bool_] = target > 0
    return target > target.mean() if len(target) and above.all() and np.ptp(target) > 0 else above


def rows_of(data: BoosterData) -> Rows:
    """Return the rows of a ``lightgbm.Dataset`` or an ``xgboost.DMatrix``.

    XGBoost keeps one weight per list where there are lists: it becomes that of all its rows.
    """
    target = np.asarray(data.get_label(), dtype=np.float64)
    sizes = None
    if uint_info := getattr(data, "get_uint_info", None):  # XGBoost
        ends = np.asarray(uint_info("group_ptr"), dtype=np.int64)
        sizes = np.diff(ends) if len(ends) > 1 else None
    elif (given := getattr(data, "get_group")()) is not None:  # noqa: B009  (LightGBM)
        sizes = np.asarray(given, dtype=np.int64)
    own = data.get_weight()
    weight = np.asarray(own, dtype=np.float64) if own is not None and len(own) else None
    groups = None
    if sizes is not None:
        if sizes.sum() != len(target):
            raise ValueError(
                f"the lists of the data set must have {len(target)} rows together, one per label, "
                f"got {sizes.sum()}"
            )
        groups = np.repeat(np.arange(len(sizes)), sizes)
        if weight is not None and len(weight) == len(sizes) != len(target):
            weight = np.repeat(weight, sizes)
    return Rows(target, weight, groups)


LONG = 1 << 14
"""Rows of one list from which on they are merged; below, every row is its own."""

CELLS = 1 << 13
"""Cells that the range of the scores is cut into."""


@dataclass(frozen=True)
class Merged:
    """Items that represent groups of rows, and the item of every row."""

    scores: Floats
    rows: Rows
    item: NDArray[np.int64] | None  # None: every row is its own item

    def spread_out(self, values: Floats, weight: Floats | None) -> Floats:
        """Return the values of items, each divided among its rows by weight."""
        if self.item is None:
            return values
        mass = self.rows.weight
        assert mass is not None
        share = np.divide(values, mass, out=np.zeros_like(values), where=mass > 0)[self.item]
        return share if weight is None else share * weight


def merge(scores: Floats, rows: Rows, *, graded: bool = False) -> Merged:
    """Merge rows of one class in one cell of scores into one item with their mean score.

    An objective counts an item of weight 2 as two, so rows of equal scores may be merged exactly.
    Those of a cell differ by a ten-thousandth of the range, their mean makes the error one of
    second order, and their order inside a cell, which is lost, is what the smoothing hides anyway.
    Short lists, several lists and ``graded`` targets stay as they are.
    """
    if len(scores) <= LONG or rows.groups is not None or graded:
        return Merged(scores, rows, None)
    low, high = float(scores.min()), float(scores.max())
    cell = ((scores - low) * ((CELLS - 1) / max(high - low, 1e-300))).astype(np.int64)
    cell += CELLS * rows.positive
    mass = np.bincount(cell, rows.weight, minlength=2 * CELLS)
    weighted = scores if rows.weight is None else scores * rows.weight
    total = np.bincount(cell, weighted, minlength=2 * CELLS)
    present = mass > 0
    number = np.cumsum(present) - 1
    items = Rows(
        (np.flatnonzero(present) >= CELLS).astype(np.float64), mass[present].astype(np.float64)
    )
    return Merged(total[present] / mass[present], items, number[cell])


Curvature = Literal["expected", "bound"]

FLOOR = 0.01
"""The minimum curvature of a row, as a share of the mean."""

Gradient = Callable[[Floats, Rows], tuple[Floats, Floats]]
"""(scores, rows) → (gradient, curvature) of every row."""

_TOP_CELL, _GROWTH = 20, 1.15  # rows in the highest cell; how much larger the next one is
_TINY = 1e-16  # boosters want a number above zero even for a row of no weight


class ObjectiveGradient:
    """Function (scores, rows) → (gradient, curvature), one number each for every row.

    Both are multiplied by one factor, so that the curvatures add up to n⁺n⁻/n, as those of log-loss
    do at its start: then a ridge and a least curvature of leaves mean the same for every objective.
    A leaf moves by −G/H, on which the factor has no influence.

    ``curvature="bound"`` is each row's own: Σ_i g_i ℓ'' over its pairs, g the derivative of the
    outer function. Where an objective has no such form (:func:`curved`)
    it is the absolute gradient, by which a leaf moves at most one unit of the scale; for a mean
    over items (focal loss) that of a log-loss weighted to have this gradient, p_y times its
    absolute value, p_y the probability of the right answer: it is never negative, as the second
    derivative is for rare positives. ``"expected"`` is the mean of that over rows of about the same
    score, but for items. Both are at least ``floor`` times their mean.
    """

    def __init__(
        self, objective: Objective, curvature: Curvature = "expected", floor: float = FLOOR
    ) -> None:
        require_one_of("curvature", curvature, get_args(Curvature))
        self.objective, self.curvature, self.floor = objective, curvature, floor
        self.curved = curved(objective)

    def __call__(self, scores: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """Return gradient and curvature of all rows of a data set."""
        gradient, curvature = self.derivatives(scores, rows)
        total = float(curvature.sum())
        if not total > 0:
            return gradient, np.ones_like(curvature)
        weight = np.ones_like(scores) if rows.weight is None else rows.weight
        positives, mass = float(weight[rows.positive].sum()), float(weight.sum())
        times = positives * (mass - positives) / mass / total
        return times * gradient, floored(times * curvature, rows.weight, self.floor)

    def derivatives(self, scores: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """Return the gradient of the risk, and its curvature before scaling, which may be 0."""
        merged = merge(scores, rows, graded=self.objective.graded)
        gradient, curvature = self.of_items(merged)
        curvature = self.smoothed(merged.scores, curvature, merged.rows.weight)
        gradient, curvature = (merged.spread_out(p, rows.weight) for p in (gradient, curvature))
        return gradient, curvature

    def of_items(self, items: Merged) -> tuple[Floats, Floats]:
        """Return the gradient, and each item's own curvature."""
        with _one_thread():
            parts = self._of(torch.tensor(items.scores, requires_grad=True), items.rows)
        gradient, curvature = (part.numpy() for part in parts)
        return gradient, curvature.clip(0)

    def smoothed(self, scores: Floats, curvature: Floats, mass: Floats | None) -> Floats:
        """Return the curvature that boosters get: each item's own, or that of its scores."""
        if self.curvature == "expected" and not isinstance(self.objective, PointwiseObjective):
            return expected(scores, curvature, mass)
        return curvature

    def _of(self, scores: Tensor, rows: Rows) -> tuple[Tensor, Tensor]:
        groups = rows.groups
        if groups is not None and len(groups) and (groups == groups[0]).all():
            groups = None  # one list need not be gathered
        given = {"groups": groups, "weight": rows.weight}
        options = {name: None if v is None else torch.from_numpy(v) for name, v in given.items()}
        target = torch.from_numpy(rows.target)

        def gradient_of(objective: Objective) -> Tensor:
            return torch.autograd.grad(objective(scores, target, **options), scores)[0]

        gradient, logits = gradient_of(self.objective), scores.detach()
        if isinstance(self.objective, PointwiseObjective):
            # In log-loss: gradient p_y − 1 toward the right answer, curvature p_y (1 − p_y).
            right = torch.where(target > 0, logits, -logits).sigmoid()
            return gradient, gradient.abs() * right
        scale: Tensor | float = 1.0
        if type(self.objective).rescale is not Objective.rescale:
            batches = read_batch(logits, target, CallArguments(**options))
            _, scale = self.objective.rescale(batches)
        # The chain rule divides a second derivative by the scale twice, the backward pass did once.
        bent = gradient if self.curved is None else gradient_of(self.curved)
        return gradient, bent.abs() / torch.as_tensor(scale)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Use one thread: items are few, and threads would compete with those of the booster."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def log_loss_gradient(scores: Floats, rows: Rows) -> tuple[Floats, Floats]:
    """Return gradient and curvature of Σ weight · log-loss, which boosters have built in.

    Of graded relevances it is the cross-entropy with y/max y as the probability.
    """
    p = 1 / (1 + np.exp(-np.clip(scores, -500, 500)))
    gradient, curvature = p - rows.share, p * (1 - p)
    if rows.weight is not None:
        gradient, curvature = gradient * rows.weight, curvature * rows.weight
    return gradient, np.maximum(curvature, 1e-16)


@dataclass(frozen=True)
class CurvedSurrogate(Surrogate):
    """Surrogate ℓ with ℓ'' in place of its derivative.

    An objective F(A) of pair sums A_i = Σ_j w_j ℓ(s_i − s_j) has the gradient Σ_i g_i ∇A_i with
    g = ∂F/∂A. With ℓ'' for ℓ' the same backward pass gives g_i Σ_j w_j ℓ''(s_i − s_j) for the
    upper side and −w_j Σ_i g_i ℓ''(s_i − s_j) for the lower: up to the sign what
    :func:`rankwise.pairs.pair_curvature` gives for the weights g, without any objective having to
    say what its g are.
    """

    surrogate: Surrogate
    _positive: ClassVar[bool] = False

    def value(self, x: Tensor) -> Tensor:
        still = x.detach()
        return self.surrogate.value(still) + self.surrogate.curvature(still) * (x - still)

    def pieces(self, order: int = 0) -> tuple[Piece, ...]:
        if order > 1:
            raise ValueError(f"order must be 0 or 1, got {order!r}")
        return self.surrogate.pieces(2 if order else 0)


def curved(objective: Objective) -> Objective | None:
    """Return a copy whose gradient is, up to signs, the diagonal of the Hessian given ∂F/∂A.

    That bounds the true diagonal from above where F is concave and ℓ convex, as for average
    precision, and is the true one where F is linear, as for the AUCs. None where an objective is
    not a function of sums of positives against negatives with a curved ℓ: a hinge has no curvature,
    a graded objective has its items on both sides of the pairs, which cancel.
    """
    if objective.graded:
        return None
    twin, changed = copy.deepcopy(objective), False
    for part in twin.modules():
        for name, value in list(vars(part).items()):
            if not isinstance(value, Surrogate):
                continue
            pieces = value.pieces(2)
            if any(any(p.polynomial) or any(p.decay) or any(p.rise) or p.growth for p in pieces):
                setattr(part, name, CurvedSurrogate(value))
                changed = True
    return twin if changed else None


def expected(scores: Floats, curvature: Floats, mass: Floats | None) -> Floats:
    """Return the mean curvature of the rows with about the same score.

    In log-loss p(1−p) is that of a row whatever its label, so that a leaf of positives divides by
    what the model expected there, little, and is found early and moved far. The curvature of pairs
    is large for a positive and small for a negative: a leaf of positives would divide by its own
    number, as with balanced classes, and trees would look for other leaves. The mean over labels
    makes the denominator one of scores again.

    Cells are cut by rank: the highest rows first, each cell larger than the one above, since that
    is where scores differ; equal scores are in one cell. ``curvature`` is that of items of
    the given ``mass``.
    """
    mass = np.ones_like(scores) if mass is None else mass
    order = np.argsort(-scores)  # any order of ties: all of them are in the cell of the first
    descending = scores[order]
    above = np.concatenate([[0.0], np.cumsum(mass[order])[:-1]])
    tied = np.concatenate([[False], descending[1:] == descending[:-1]])
    above = above[np.maximum.accumulate(np.where(tied, 0, np.arange(len(scores))))]
    growth = np.log1p(above * (_GROWTH - 1) / _TOP_CELL) / np.log(_GROWTH)
    cell = np.empty(len(scores), dtype=np.int64)
    cell[order] = growth.astype(np.int64)
    total, size = np.bincount(cell, curvature), np.bincount(cell, mass)
    mean = np.divide(total, size, out=np.zeros_like(total), where=size > 0)
    result: Floats = mean[cell] * mass
    return result


def floored(curvature: Floats, weight: Floats | None, share: float) -> Floats:
    """Return the curvature, at least a share of its mean, so that no leaf diverges."""
    mean = float(np.mean(curvature))
    if weight is None:
        return np.maximum(curvature, share * mean)
    # In proportion to the weight, so that a row of weight 2 is still the row twice.
    least = share * mean * len(weight) / float(weight.sum()) * weight
    return np.maximum(curvature, np.maximum(least, _TINY))


def first_score(objective: Objective | None, prior: float) -> float:
    """Return the best constant of a mean over items, else the log-odds of the prior.

    A ranking objective is the same for every constant; its scores are taken as logits. The best
    one of the focal loss is nearer to 0 than the log-odds, where its first tree would leap.
    """
    if not isinstance(objective, PointwiseObjective):
        return math.log(prior / (1 - prior))
    target = torch.tensor([0.0, 1.0])
    weight = torch.tensor([1 - prior, prior], dtype=torch.float64)
    low, high = -50.0, 50.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        scores = torch.full((2,), middle, dtype=torch.float64, requires_grad=True)
        slope = torch.autograd.grad(objective(scores, target, weight=weight), scores)[0].sum()
        low, high = (middle, high) if slope < 0 else (low, middle)
    return (low + high) / 2
