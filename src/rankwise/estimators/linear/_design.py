"""The design matrix of a linear model: standardized columns, and products with them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from rankwise.estimators.data import Floats, Matrix, Vector, dense

_BIG = 10**7  # values from which single precision halves the time
_BLOCK = 1 << 14


class Design:
    """The matrix Z = (X − mean)/spread, by columns and weights; a sparse X is divided only.

    ``raw`` leaves X as it is. Large dense matrices are kept in single precision, or with
    ``single`` all dense ones.
    """

    def __init__(
        self, matrix: Matrix, weight: Vector | None, *, raw: bool = False, single: bool = False
    ) -> None:
        columns = matrix.shape[1]
        self.mean, self.spread = np.zeros(columns), np.ones(columns)
        self.matrix: Matrix
        if not isinstance(matrix, np.ndarray):
            if not raw:
                self.spread = _spread_of_sparse(matrix, weight)
            self.matrix = matrix.astype(np.float64) @ diags_array(1 / self.spread)
            return
        if not raw:
            self.mean, self.spread, _ = moments(matrix, weight)
        small = matrix.size <= _BIG and not single
        self.matrix = np.empty(matrix.shape, dtype=np.float64 if small else np.float32)
        for start in range(0, len(matrix), _BLOCK):
            rows = slice(start, start + _BLOCK)
            self.matrix[rows] = (matrix[rows] - self.mean) / self.spread

    @property
    def columns(self) -> int:
        """Number of features."""
        return len(self.mean)

    def scores(self, weights: Vector) -> Floats:
        """Return Z w."""
        return np.asarray(self.matrix @ weights.astype(self.matrix.dtype))

    def gradient(self, by_score: Floats) -> Vector:
        """Return Zᵀ g: the gradient by w of a function with the gradient g by the scores."""
        product = self.matrix.T @ by_score.astype(self.matrix.dtype)
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


def _spread_of_sparse(matrix: csr_array, weight: Vector | None) -> Vector:
    weight = np.ones(matrix.shape[0]) if weight is None else weight
    wide = matrix.astype(np.float64)
    mean, square = ((weight @ part) / weight.sum() for part in (wide, wide.power(2)))
    return _or_one(np.sqrt(np.maximum(square - mean**2, 0)))


def _or_one(spread: Vector) -> Vector:
    """Replace the spread of a column that does not vary, except by rounding, by 1."""
    return np.where(spread > 1e-12 * (spread.max(initial=0) or 1), spread, 1.0)
