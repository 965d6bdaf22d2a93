"""Gradient and curvature of an objective at every row, alone or blended with log-loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, get_args

import numpy as np
import torch
from torch import Tensor

from rankwise.baselines.pointwise import PointwiseObjective
from rankwise.boosting.curvature import curved, expected, floored
from rankwise.boosting.rows import Floats, Rows, merge
from rankwise.checks import require_one_of
from rankwise.objectives import Objective
from rankwise.objectives._batch import CallArguments, read_batch

Curvature = Literal["expected", "bound"]

FLOOR = 0.01
"""The minimum curvature of a row, as a share of the mean."""


class ObjectiveGradient:
    """Function (scores, rows) → (gradient, curvature), one number each for every row.

    Both are multiplied by one factor, so that the curvatures add up to n⁺n⁻/n, as those of log-loss
    do at its start: then a ridge and a least curvature of leaves mean the same for every objective.
    A leaf moves by −G/H, on which the factor has no influence.

    ``curvature="bound"`` is each row's own: Σ_i g_i ℓ'' over its pairs, g the derivative of the
    outer function. Where an objective has no such form (:func:`rankwise.boosting.curvature.curved`)
    it is the absolute gradient, by which a leaf moves at most one unit of the scale; for a mean
    over items (focal loss) that of a log-loss weighted to have this gradient, p_y times its
    absolute value, p_y the probability of the right answer: it is never negative, as the second
    derivative is for rare positives. ``"expected"`` is the mean of that over rows of about the same
    score, but for items. Both are at least ``floor`` times their mean.
    """

    def __init__(
        self,
        objective: Objective,
        curvature: Curvature = "expected",
        floor: float = FLOOR,
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
        positives, mass = rows.mass_of_positives, rows.mass
        times = positives * (mass - positives) / mass / total
        return times * gradient, floored(times * curvature, rows.weight, self.floor)

    def derivatives(self, scores: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """Return the gradient of the risk, and its curvature before scaling, which may be 0."""
        merged = merge(scores, rows, graded=self.objective.graded)
        with _one_thread():
            parts = self._of(torch.tensor(merged.scores), merged.rows)
        gradient, curvature = (part.numpy() for part in parts)
        curvature = curvature.clip(0)
        if self.curvature == "expected" and not isinstance(self.objective, PointwiseObjective):
            curvature = expected(merged.scores, curvature, merged.rows.weight)
        gradient, curvature = (merged.spread_out(p, rows.weight) for p in (gradient, curvature))
        return gradient, curvature

    def _of(self, scores: Tensor, rows: Rows) -> tuple[Tensor, Tensor]:
        scores = scores.requires_grad_()
        if isinstance(self.objective, PointwiseObjective):
            return _of_items(self.objective, scores, rows)
        gradient = _gradient(self.objective, scores, rows)
        scale = self._scale(scores.detach(), rows)
        if self.curved is None:
            return gradient, gradient.abs() / scale
        # The chain rule divides a second derivative by the scale twice, the backward pass did once.
        return gradient, _gradient(self.curved, scores, rows).abs() / scale

    def _scale(self, scores: Tensor, rows: Rows) -> Tensor:
        target, options = _arguments(rows)
        everything = CallArguments(groups=options["groups"], weight=options["weight"])
        _, scale = self.objective.rescale(read_batch(scores, target, everything))
        return torch.as_tensor(scale)


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
    """Return gradient and curvature of Σ weight · log-loss, which boosters have built in."""
    p = 1 / (1 + np.exp(-np.clip(scores, -500, 500)))
    gradient, curvature = p - rows.positive, p * (1 - p)
    if rows.weight is not None:
        gradient, curvature = gradient * rows.weight, curvature * rows.weight
    return gradient, np.maximum(curvature, 1e-16)


def _arguments(rows: Rows) -> tuple[Tensor, dict[str, Tensor | None]]:
    given = {"groups": rows.groups, "weight": rows.weight}
    options = {name: None if v is None else torch.from_numpy(v) for name, v in given.items()}
    return torch.from_numpy(rows.target), options


def _gradient(objective: Objective, scores: Tensor, rows: Rows) -> Tensor:
    target, options = _arguments(rows)
    (gradient,) = torch.autograd.grad(objective(scores, target, **options), scores)
    return gradient


def _of_items(objective: Objective, scores: Tensor, rows: Rows) -> tuple[Tensor, Tensor]:
    """Of log-loss the gradient is p_y − 1 toward the right answer, the curvature p_y (1 − p_y)."""
    gradient = _gradient(objective, scores, rows)
    logits = scores.detach()
    right = torch.where(torch.from_numpy(rows.positive), logits, -logits).sigmoid()
    return gradient, gradient.abs() * right


Gradient = Callable[[Floats, Rows], tuple[Floats, Floats]]
"""(scores, rows) → (gradient, curvature) of every row."""


class Mixed:
    """Gradient of (1 − ``share``) log-loss and ``share`` of an objective.

    The objective is scaled until the absolute gradients of both add up to the same, so that a
    share means the same for every objective and in every round.
    """

    def __init__(self, gradient: Gradient, share: float) -> None:
        if not 0 <= share <= 1:
            raise ValueError(f"blend must be in [0, 1], got {share!r}")
        self.gradient, self.share = gradient, share

    def __call__(self, scores: Floats, rows: Rows) -> tuple[Floats, Floats]:
        """Return gradient and curvature of all rows of a data set."""
        if self.share == 1:
            return self.gradient(scores, rows)
        plain = log_loss_gradient(scores, rows)
        if self.share == 0:
            return plain
        own = self.gradient(scores, rows)
        size = float(np.abs(own[0]).sum())
        factor = self.share * float(np.abs(plain[0]).sum()) / size if size > 0 else 0.0
        gradient, curvature = (
            (1 - self.share) * a + factor * b for a, b in zip(plain, own, strict=True)
        )
        return gradient, curvature
