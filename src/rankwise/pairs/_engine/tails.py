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
        return _factors(_inverse_power(1))
    if order == 1:  # −z/(1+z)²
        return _factors(-_inverse_power(2))
    if order == 2:  # z(1−z)/(1+z)³
        return _factors(_inverse_power(3) * Polynomial([1.0, -1.0]))
    raise ValueError(f"order must be 0, 1 or 2, got {order}")


@cache
def log1p_tail(order: int) -> tuple[float, ...]:
    """Factors of z, z², … in the ``order``-th derivative of log(1+e^{−y}) by y, for y ≥ 0."""
    if order == 0:
        return _factors(_fit(lambda z: np.log1p(z) / z))
    return tuple(-factor for factor in sigmoid_tail(order - 1))


@cache
def rise() -> tuple[float, ...]:
    """Factors of 1−z, 1−z², … in tanh(y/2) = (1−z)/(1+z), for y ≥ 0.

    The polynomial (1−z)/(1+z) vanishes at z = 1, so it is a sum of 1 − z^k without a constant.
    """
    return _factors(_inverse_power(1) * Polynomial([-1.0, 1.0]))[1:]


def _inverse_power(power: int) -> Polynomial:
    return _fit(lambda z: (1.0 + z) ** -power)


def _fit(function: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Polynomial:
    fitted = Chebyshev.interpolate(function, _TERMS - 1, domain=[0.0, 1.0])
    polynomial: Polynomial = fitted.convert(kind=Polynomial)
    return polynomial


def _factors(polynomial: Polynomial) -> tuple[float, ...]:
    return tuple(float(factor) for factor in polynomial.coef)
