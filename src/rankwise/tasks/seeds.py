"""Which seeds a run takes."""

from __future__ import annotations

from numbers import Integral

from rankwise.errors import UsageError

__all__ = ["HIGHEST", "require_seed"]

HIGHEST = 2**32 - 1  # of numpy's RandomState and scikit-learn; the other libraries take more


def require_seed(name: str, value: object) -> None:
    """Raise unless a setting is a seed that every library below takes, before anything is drawn."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or not 0 <= int(value) <= HIGHEST:  # type: ignore[call-overload]
        raise UsageError(f"{name} must be a whole number from 0 to {HIGHEST}, got {value!r}")
