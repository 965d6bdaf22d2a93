"""The design matrix of a linear model: standardized columns, and products with them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import diags_array

from rankwise.estimators.data import Floats, Matrix, Vector

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
                self.spread = _or_one(_moments(matrix, weight)[1])
            self.matrix = matrix.astype(np.float64) @ diags_array(1 / self.spread)
            return
        if not raw:
            self.mean, spread = _moments(matrix, weight)
            self.spread = _or_one(spread)
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


def _moments(matrix: Matrix, weight: Vector | None) -> tuple[Vector, Vector]:
    """Return mean and standard deviation of every column, computed in double precision."""
    rows, columns = matrix.shape
    total = float(rows) if weight is None else float(weight.sum())
    if not isinstance(matrix, np.ndarray):
        w = np.ones(rows) if weight is None else weight
        wide = matrix.astype(np.float64)
        mean = (w @ wide) / total
        return mean, np.sqrt(np.maximum((w @ wide.power(2)) / total - mean**2, 0))
    mean, square = np.zeros(columns), np.zeros(columns)
    for power in (1, 2):
        for start in range(0, rows, _BLOCK):
            block = matrix[start : start + _BLOCK].astype(np.float64)
            w = np.ones(len(block)) if weight is None else weight[start : start + _BLOCK]
            if power == 1:
                mean += w @ block / total
            else:  # about the mean: columns such as times are large and vary little
                square += w @ (block - mean) ** 2 / total
    return mean, np.sqrt(square)


def _or_one(spread: Vector) -> Vector:
    """Replace the spread of a column that does not vary, except by rounding, by 1."""
    return np.where(spread > 1e-12 * (spread.max(initial=0) or 1), spread, 1.0)
