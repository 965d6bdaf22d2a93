"""Whether numba is there, and how functions are compiled."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import cache, wraps
from importlib.util import find_spec
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

SWITCH = "RANKWISE_COMPILED"
"""Environment variable that turns compiled sums off where it is 0."""

# Without the GIL, so that threads share the lists. A product and its sum may be rounded once.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}


def is_available() -> bool:
    """Return whether sums may be compiled: numba is installed and neither is switched off."""
    switched_off = os.environ.get(SWITCH) == "0" or os.environ.get("NUMBA_DISABLE_JIT") == "1"
    return not switched_off and _works()


@cache
def _works() -> bool:
    if find_spec("numba") is None:
        return False
    try:
        import numba  # noqa: F401, PLC0415
    except ImportError as error:  # such as one that wants an older numpy
        warnings.warn(
            f"numba is installed and cannot be imported ({error}); sums over pairs are not "
            f"compiled. Install a numba that fits, or set {SWITCH}=0",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
    return True


def kernel(function: Callable[P, T]) -> Callable[P, T]:
    """Compile a function at its first call, and keep the machine code on disk if that is possible.

    Numba keeps it next to the source, else in the cache folder of the user or in
    ``NUMBA_CACHE_DIR``. An installation may be read-only, a disk full and a file broken. Then the
    function is compiled for this process alone.
    """
    import numba  # noqa: PLC0415

    plain: Callable[P, T] = numba.njit(**_OPTIONS)(function)
    try:
        compiled: Callable[P, T] = numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # no folder can be written to
        return plain

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        nonlocal compiled
        try:
            return compiled(*args, **kwargs)
        except Exception:  # kernels raise nothing, so it is of the cache, or is raised again
            compiled = plain
            return compiled(*args, **kwargs)

    return call
