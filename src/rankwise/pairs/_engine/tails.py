"""Sums of exponentials for the sigmoid family: polynomials in z = e^{−y}, y ≥ 0.

1/(1+z)^p and log(1+z)/z are analytic on [0, 1] with their nearest singularity at z = −1, so a
Chebyshev fit gains a factor 5.8 with every term, and a polynomial in z *is* a sum of decaying
exponentials in y. The factors z and 1 − z are multiplied in exactly, so that the error is
relative: it stays small where the function itself goes to zero.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray

TAIL_ERROR = 1e-6
"""Relative error that every fit of this module stays under (tests measure each one)."""

_TERMS = 12


@cache
def sigmoid_tail(order: int) -> tuple[float, ...]:
    """Factors of z, z², … in the ``order``-th derivative of 1/(1+e^y) by y, for y ≥ 0."""
    if order == 0:  # z/(1+z)
        return _times_z(_inverse_power(1, _TERMS))
    if order == 1:  # −z/(1+z)²
        return _times_z(-_inverse_power(2, _TERMS))
    if order == 2:  # z(1−z)/(1+z)³
        return _times_z(_inverse_power(3, _TERMS) * Polynomial([1.0, -1.0]))
    raise ValueError(f"order must be 0, 1 or 2, got {order}")


@cache
def log1p_tail(order: int) -> tuple[float, ...]:
    """Factors of z, z², … in the ``order``-th derivative of log(1+e^{−y}) by y, for y ≥ 0."""
    if order == 0:
        return _times_z(_fit(_log1p_over_z, _TERMS))
    return tuple(-factor for factor in sigmoid_tail(order - 1))


@cache
def rise() -> tuple[float, ...]:
    """Factors of 1−z, 1−z², … in tanh(y/2) = (1−z)/(1+z), for y ≥ 0.

    The polynomial (1−z)/(1+z) vanishes at z = 1, so it is a sum of 1 − z^k without a constant.
    """
    polynomial = _inverse_power(1, _TERMS) * Polynomial([1.0, -1.0])
    return tuple(-float(factor) for factor in polynomial.coef[1:])


def _inverse_power(power: int, terms: int) -> Polynomial:
    def function(z: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((1.0 + z) ** -power, dtype=np.float64)

    return _fit(function, terms)


def _log1p_over_z(z: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.log1p(z) / z, dtype=np.float64)


def _fit(function: Callable[[NDArray[np.float64]], NDArray[np.float64]], terms: int) -> Polynomial:
    fitted = Chebyshev.interpolate(function, terms - 1, domain=[0.0, 1.0])
    polynomial: Polynomial = fitted.convert(kind=Polynomial)
    return polynomial


def _times_z(polynomial: Polynomial) -> tuple[float, ...]:
    return tuple(float(factor) for factor in polynomial.coef)
