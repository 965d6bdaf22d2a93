"""Exact probabilities of counts: the binomial tail, and the interval of a share.

Written here because the core of the package depends on numpy and torch only.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_TINY = 1e-300
_STEPS = 100_000  # about √n are needed
_HALVINGS = 40


def binomial_tail(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Floats:
    """Return P(Bin(n, p) ≥ k) = I_p(k, n − k + 1), the regularized incomplete beta function.

    Counts may be fractions, such as those of weighted rows.
    """
    counts, sizes, chance = np.broadcast_arrays(
        *(np.asarray(each, dtype=np.float64) for each in (k, n, p))
    )
    inside = (counts > 0) & (counts <= sizes) & (chance > 0) & (chance < 1)
    a = np.where(inside, counts, 1.0)
    b = np.where(inside, sizes - counts + 1, 1.0)
    value = _beta(a, b, np.where(inside, chance, 0.5))
    sure = (counts <= 0) | ((chance >= 1) & (counts <= sizes))
    return np.where(inside, value, np.where(sure, 1.0, 0.0))


def share_interval(k: ArrayLike, n: ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
    """Return both ends of the exact interval of a share k/n (Clopper & Pearson 1934).

    (0, 1) where nothing was counted.
    """
    counts, sizes = np.broadcast_arrays(*(np.asarray(each, dtype=np.float64) for each in (k, n)))
    tail = (1 - level) / 2
    low = _solve(counts, sizes, tail)
    high = _solve(counts + 1, sizes, 1 - tail)
    low = np.where((counts <= 0) | (sizes <= 0), 0.0, low)
    return low, np.where((counts >= sizes) | (sizes <= 0), 1.0, high)


def least_size(share: float, chance: float) -> int:
    """Return the least n with share^n ≤ chance."""
    return max(1, math.ceil(math.log(chance) / math.log(share) - 1e-9))


@lru_cache(maxsize=1024)
def largest_count(n: int, p: float, confidence: float) -> int:
    """Return the largest j with P(Bin(n, p) ≥ j) ≥ confidence; 0 where it is none.

    The j-th extreme of n values is then beyond the quantile of p with this confidence (Wilks 1941).
    """
    low, high = 0, n + 1
    while high - low > 1:
        middle = (low + high) // 2
        enough = float(binomial_tail(middle, n, p)) >= confidence
        low, high = (middle, high) if enough else (low, middle)
    return low


def _solve(k: Floats, n: Floats, chance: float) -> Floats:
    """Return p with P(Bin(n, p) ≥ k) = chance, which rises with p."""
    low, high = np.zeros(k.shape), np.ones(k.shape)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = binomial_tail(k, n, middle) < chance
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def _beta(a: Floats, b: Floats, x: Floats) -> Floats:
    """Return I_x(a, b) by the continued fraction of DLMF 8.17.22 (Lentz's method)."""
    turned = x > (a + 1) / (a + b + 2)  # the fraction converges fast on the other side
    a, b, x = np.where(turned, b, a), np.where(turned, a, b), np.where(turned, 1 - x, x)
    constant = _log_gamma(a + b) - _log_gamma(a) - _log_gamma(b)
    front = np.exp(constant + a * np.log(x) + b * np.log1p(-x)) / a
    c, d = np.ones_like(x), 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = d.copy()
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _away_from_zero(1 + term * d)
            c = _away_from_zero(1 + term / c)
            value = value * d * c
        if np.all(np.abs(d * c - 1) < 1e-14):
            break
    found = np.minimum(front * value, 1.0)
    return np.where(turned, 1 - found, found)


def _log_gamma(x: Floats) -> Floats:
    found: Floats = torch.lgamma(torch.as_tensor(np.asarray(x))).numpy()
    return found


def _away_from_zero(x: Floats) -> Floats:
    return np.where(np.abs(x) < _TINY, _TINY, x)
