"""The design matrix of a linear model, and L-BFGS for an objective of its scores."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize
from scipy.sparse import diags_array
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from rankwise.boosting.disk import DiskMatrix
from rankwise.estimators.data import Floats, Matrix, Vector, dense
from rankwise.estimators.limits import time_is_up
from rankwise.lists import Lists
from rankwise.objectives import AveragePrecision, Objective
from rankwise.objectives._batch import CallArguments, lists_of_rows
from rankwise.objectives.ap.formulas import (
    false_positive_rate,
    precision_loss,
    true_positive_rate,
    weighted_median,
)

_BIG = 10**7  # values from which single precision halves the time
_BLOCK = 1 << 14


class Design:
    """The matrix Z = (X − mean)/spread, by columns and weights; a sparse X is divided only.

    ``raw`` leaves X as it is. Large dense matrices are kept in single precision, or with
    ``single`` all dense ones. That of an X on disk is a file next to it.
    """

    def __init__(
        self, matrix: Matrix, weight: Vector | None, *, raw: bool = False, single: bool = False
    ) -> None:
        columns = matrix.shape[1]
        self.mean, self.spread = np.zeros(columns), np.ones(columns)
        self.matrix: Matrix
        if not isinstance(matrix, (np.ndarray, DiskMatrix)):
            wide = matrix.astype(np.float64)
            if not raw:
                parts = (wide, wide.power(2))
                mass = np.ones(matrix.shape[0]) if weight is None else weight
                mean, square = ((mass @ part) / mass.sum() for part in parts)
                self.spread = _or_one(np.sqrt(np.maximum(square - mean**2, 0)))
            self.matrix = wide @ diags_array(1 / self.spread)
            return
        if not raw:
            self.mean, self.spread, _ = moments(matrix, weight)
        small = matrix.size <= _BIG and not single
        dtype = np.float64 if small else np.float32
        if isinstance(matrix, DiskMatrix):
            scaled = ((block - self.mean) / self.spread for block in matrix.blocks())
            path = matrix.path.with_name("design")
            self.matrix = DiskMatrix.write(path, columns, scaled, dtype)
            return
        self.matrix = np.empty(matrix.shape, dtype=dtype)
        for start in range(0, len(matrix), _BLOCK):
            rows = slice(start, start + _BLOCK)
            self.matrix[rows] = (matrix[rows] - self.mean) / self.spread

    @property
    def columns(self) -> int:
        """Number of features."""
        return len(self.mean)

    def of_rows(self, rows: NDArray[np.int64]) -> Design:
        """Return some rows of Z, which are on disk, with the same scales."""
        assert isinstance(self.matrix, DiskMatrix)
        found = copy.copy(self)
        found.matrix = self.matrix.select(rows)
        return found

    def scores(self, weights: Vector) -> Floats:
        """Return Z w."""
        return np.asarray(self.matrix @ weights.astype(self.matrix.dtype))

    def gradient(self, by_score: Floats) -> Vector:
        """Return Zᵀ g: the gradient by w of a function with the gradient g by the scores."""
        factors = by_score.astype(self.matrix.dtype)
        on_disk = isinstance(self.matrix, DiskMatrix)
        product = factors @ self.matrix if on_disk else self.matrix.T @ factors
        return np.asarray(product, dtype=np.float64)

    def unscaled(self, weights: Vector, intercept: float) -> tuple[Vector, float]:
        """Return coefficients and intercept for X itself."""
        coefficients = weights / self.spread
        return coefficients, float(intercept - self.mean @ coefficients)


def spread_of(scores: Floats, weight: Vector | None) -> float:
    """Return the standard deviation of scores, 1 where they are all equal."""
    wide = scores.astype(np.float64)
    mean = np.average(wide, weights=weight)
    return float(np.sqrt(np.average((wide - mean) ** 2, weights=weight))) or 1.0


def moments(matrix: Matrix, weight: Vector | None) -> tuple[Vector, Vector, NDArray[np.bool_]]:
    """Return mean and spread of every column without its gaps, and whether it has any."""
    total, mean, square = np.zeros((3, matrix.shape[1]))
    missing = np.zeros(matrix.shape[1], dtype=bool)
    for block, w in _blocks(matrix, weight):
        gaps = np.isnan(block)
        missing |= gaps.any(0)
        total += w @ ~gaps
        mean += w @ np.where(gaps, 0, block)
    total[total == 0] = 1
    mean /= total
    for block, w in _blocks(matrix, weight):
        # About the mean: columns such as times are large and vary little.
        square += w @ np.where(np.isnan(block), 0, block - mean) ** 2
    return mean, _or_one(np.sqrt(square / total)), missing


def _blocks(matrix: Matrix, weight: Vector | None) -> Iterator[tuple[Vector, Vector]]:
    """Yield rows in double precision with their weights, some at a time."""
    weight = np.ones(matrix.shape[0]) if weight is None else weight
    for start in range(0, matrix.shape[0], _BLOCK):
        rows = slice(start, start + _BLOCK)
        yield dense(matrix[rows]).astype(np.float64), weight[rows]


def _or_one(spread: Vector) -> Vector:
    """Replace the spread of a column that does not vary, except by rounding, by 1."""
    return np.where(spread > 1e-12 * (spread.max(initial=0) or 1), spread, 1.0)


Loss = Callable[[Tensor], Tensor]


def search(
    design: Design,
    loss: Loss,
    start: Vector,
    *,
    ridge: float,
    max_iter: int,
    tolerance: float,
) -> tuple[Vector, int]:
    """Minimize loss(Z w + b) + ridge/2 · ‖w − w₀‖² over (w, b); return (w, b) and the steps.

    ``start`` is w₀, or w₀ with the intercept b appended. Without b it is a ranking, which no
    constant changes. The search ends early where the time is up.
    """
    columns = design.columns

    def value_and_gradient(parameters: Vector) -> tuple[float, Vector]:
        weights, intercept = parameters[:columns], parameters[columns:]
        product = design.scores(weights)
        if len(intercept):
            product = product + product.dtype.type(intercept[0])
        scores = torch.from_numpy(np.ascontiguousarray(product)).requires_grad_()
        value = loss(scores)
        (gradient,) = torch.autograd.grad(value, scores)
        by_score = gradient.numpy()
        away = weights - start[:columns]
        whole = np.empty_like(parameters)
        whole[:columns] = design.gradient(by_score) + ridge * away
        whole[columns:] = by_score.sum(dtype=np.float64)
        return value.item() + 0.5 * ridge * float(away @ away), whole

    least = max(1e-3 * tolerance, float(np.finfo(design.matrix.dtype).eps))  # below it is rounding
    found = minimize(
        value_and_gradient,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=_end_in_time,
        options={"maxiter": max_iter, "gtol": tolerance, "ftol": least},
    )
    return np.asarray(found.x, dtype=np.float64), int(found.nit)


def mean_log_loss(design: Design, target: Tensor, weight: Tensor | None) -> Loss:
    """Return the weighted mean log-loss of 0/1 targets as a function of the scores."""
    total = float(len(target)) if weight is None else float(weight.sum())
    kind = torch.from_numpy(np.zeros(0, dtype=design.matrix.dtype)).dtype
    target, weight = target.to(kind), None if weight is None else weight.to(kind)

    def loss(scores: Tensor) -> Tensor:
        # That of CrossEntropy, without its checks, and summed so that rounding does not end
        # the search: the rows are known by now.
        losses = binary_cross_entropy_with_logits(scores, target, weight, reduction="none")
        return losses.sum(dtype=torch.float64) / total

    return loss


def _end_in_time(intermediate_result: OptimizeResult) -> None:
    """Stop between two iterations; scipy asks for this name and for this exception."""
    if time_is_up():
        raise StopIteration


def fixed_at(
    objective: Objective,
    scores: Tensor,
    target: Tensor,
    weight: Tensor | None,
    groups: Tensor | None,
) -> Loss:
    """Return the objective as a function of the scores whose gradient is the one it reports.

    The batch surrogate of average precision is not such a function: its gain and its true positive
    rates change with the scores but carry no gradient, and the gain shrinks where the ranking gets
    worse. A search is misled by that: on mammography it goes from a test AP of .61 to .36, with
    both kept as they are at ``scores`` to .64 (mean of 3 splits). With an automatic scale pass
    scores of spread 1: a fixed scale lets the ridge hold the size of the weights.
    """
    if not isinstance(objective, AveragePrecision):
        return lambda now: objective(now, target, weight=weight, groups=groups)
    scale = 1.0 if objective.score_scale == "auto" else float(objective.score_scale)
    kept = []
    arguments = CallArguments(groups=groups, weight=weight)
    for part in map(PlacedLists, lists_of_rows(target, arguments)):
        lists = part.at(scores[None].detach() / scale)
        found = true_positive_rate(objective.true_positives, lists)
        gain = objective.full_gain(lists)
        if objective.gain == "annealed":
            ratio = false_positive_rate(objective.false_positives, lists) / found
            median = weighted_median(ratio, lists.positive_weight)
            gain = (1 / median).clamp(max=gain)  # 1/0 = ∞: without errors it is the full gain
        kept.append((part, gain / found))

    def loss(now: Tensor) -> Tensor:
        risks = []
        for part, factor in kept:
            lists = part.at(now[None] / scale)
            errors = factor * false_positive_rate(objective.false_positives, lists)
            risks.append(lists.mean_over_positives(precision_loss(errors, objective.power)))
        return torch.cat(risks).mean()

    return loss


@dataclass(frozen=True)
class PlacedLists:
    """Lists with the numbers of rows in place of scores: nothing is checked or split again."""

    lists: Lists

    @cached_property
    def positives(self) -> Tensor:
        """The rows of the positives, (lists, items)."""
        return _whole(self.lists.positives)

    @cached_property
    def negatives(self) -> Tensor:
        """The rows of the negatives, (lists, items)."""
        return _whole(self.lists.negatives)

    def at(self, scores: Tensor) -> Lists:
        """Return the lists under every row of ``scores``, (settings, rows), in one sequence."""
        above, below = (
            # Not copied: lists know by these very tensors that all weights are 1.
            weight
            if len(scores) == 1 and weight.dtype == scores.dtype
            else weight.to(scores.dtype).repeat(len(scores), 1)
            for weight in (self.lists.positive_weight, self.lists.negative_weight)
        )
        return replace(
            self.lists,
            positives=_taken(scores, self.positives),
            negatives=_taken(scores, self.negatives),
            positive_weight=above,
            negative_weight=below,
            list_ids=None,
        )


def _whole(rows: Tensor) -> Tensor:
    return rows.long() if rows.is_floating_point() else rows


def _taken(scores: Tensor, rows: Tensor) -> Tensor:
    return scores.index_select(1, rows.flatten()).view(-1, rows.shape[1])
