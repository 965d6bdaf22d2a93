"""The rows as a linear model sees them: columns of about the same spread, products with them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import diags_array, issparse

__all__ = ["Design"]

_Vector = NDArray[np.float64]
_BIG = 10**7  # values from which single precision halves the time
_BLOCK = 1 << 14


class Design:
    """Z = (X − mean)/spread, by columns and weights; a sparse X is divided but not moved.

    ``raw`` leaves X as it is. Large dense matrices are kept in single precision, or with
    ``single`` all dense ones.
    """

    def __init__(
        self, matrix: Any, weight: _Vector | None, *, raw: bool = False, single: bool = False
    ) -> None:
        columns = matrix.shape[1]
        self.mean, self.spread = np.zeros(columns), np.ones(columns)
        if issparse(matrix):
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
        """How many features there are."""
        return len(self.mean)

    def scores(self, weights: _Vector) -> NDArray[Any]:
        """Z w."""
        product: NDArray[Any] = self.matrix @ weights.astype(self.matrix.dtype)
        return product

    def gradient(self, by_score: NDArray[Any]) -> _Vector:
        """Zᵀ g: the gradient by w of a function with the gradient g by the scores."""
        product = self.matrix.T @ by_score.astype(self.matrix.dtype)
        return np.asarray(product, dtype=np.float64)

    def unscaled(self, weights: _Vector, intercept: float) -> tuple[_Vector, float]:
        """Coefficients and intercept for X itself."""
        coefficients = weights / self.spread
        return coefficients, float(intercept - self.mean @ coefficients)


def _moments(matrix: Any, weight: _Vector | None) -> tuple[_Vector, _Vector]:
    """Mean and standard deviation of every column, block by block in double precision."""
    rows, columns = matrix.shape
    total = float(rows) if weight is None else float(weight.sum())
    if issparse(matrix):
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


def _or_one(spread: _Vector) -> _Vector:
    """A column that does not vary is left alone, also where rounding makes it vary a little."""
    return np.where(spread > 1e-12 * (spread.max(initial=0) or 1), spread, 1.0)
