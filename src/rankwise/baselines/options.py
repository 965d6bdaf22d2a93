"""Checks of options that several baselines share, beside those of :mod:`rankwise.checks`."""

from __future__ import annotations

import math
from numbers import Integral

__all__ = ["require_number", "require_number_from_zero", "require_steps"]


def require_number(name: str, value: float) -> None:
    """A similarity, of either sign."""
    if not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}")


def require_number_from_zero(name: str, value: float) -> None:
    """A margin or an exponent that may be switched off by 0."""
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{name} must be a finite number >= 0, got {value!r}")


def require_steps(name: str, value: int) -> None:
    """A number of batches or epochs, from 0 on."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
        raise ValueError(f"{name} must be a whole number >= 0, got {value!r}")
