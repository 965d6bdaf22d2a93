"""Gradient of an objective at every row, and a positive curvature, which boosters divide by."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from rankwise.baselines.pointwise import PointwiseObjective
from rankwise.boosting.curvature import curved, expected, floored
from rankwise.boosting.merging import Merged, merge
from rankwise.boosting.rows import Floats, Rows
from rankwise.checks import require_one_of
from rankwise.objectives import Objective
from rankwise.objectives._batch import CallArguments, read_batch

Curvature = Literal["expected", "bound"]

FLOOR = 0.01
"""The minimum curvature of a row, as a share of the mean."""

VANISHING = 0.01
"""A sum of curvatures below this share of that of absolute gradients is not divided by."""

Gradient = Callable[[Floats, Rows], tuple[Floats, Floats]]
"""(scores, rows) → (gradient, curvature) of every row."""


class ObjectiveGradient:
    """Function (scores, rows) → (gradient, curvature), one number each for every row.

    Both are multiplied by one factor, so that the curvatures add up to n⁺n⁻/n, as those of log-loss
    do at its start: then a ridge and a least curvature of leaves mean the same for every objective.
    A leaf moves by −G/H, on which the factor has no influence.

    ``curvature="bound"`` is each row's own: Σ_i g_i ℓ'' over its pairs, g the derivative of the
    outer function. Where an objective has no such form (:func:`curved`), or one that all but
    vanishes (a sigmoid of equal scores), it is the absolute gradient, by which a leaf moves at most
    one unit of the scale; for a mean over items (focal loss) that of a log-loss weighted to have
    this gradient, p_y times its absolute value, p_y the probability of the right answer: it is
    never negative, as the second derivative is for rare positives. ``"expected"`` is the mean of
    that over rows of about the same score, but for items. Both are at least ``floor`` times their
    mean.
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
        if rows.weight is None:
            positives, mass = float(np.count_nonzero(rows.positive)), float(len(scores))
        else:
            positives, mass = (float(w.sum()) for w in (rows.weight[rows.positive], rows.weight))
        times = positives * (mass - positives) / mass / total
        gradient = times * gradient  # one after the other: tables larger than memory have long ones
        curvature = times * curvature
        return gradient, floored(curvature, rows.weight, self.floor)

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
        bent = (gradient if self.curved is None else gradient_of(self.curved)).abs()
        if bent.sum() < VANISHING * gradient.abs().sum():
            # ℓ'' of a sigmoid is 0 for equal scores, as in the first round: the rest is rounding.
            bent = gradient.abs()
        return gradient, bent / torch.as_tensor(scale)


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
