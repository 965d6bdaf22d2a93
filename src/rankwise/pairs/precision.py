"""The precision in which sums over pairs are added up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["single_precision"]

single: ContextVar[bool] = ContextVar("rankwise_single_precision", default=False)
"""True where sums over pairs of float32 scores are added up in float32."""


@contextmanager
def single_precision() -> Iterator[None]:
    """Add up sums over pairs of float32 scores in float32, for devices with slow float64.

    Without it, more than 131 072 pairs are added up in float64. In float32 the error is below 1e-5
    of the largest value for up to 10⁶ scores; the page on GPUs has a table. The setting concerns
    ``pair_sum`` and ``pair_curvature``, and with them the objectives. Float64 scores, log-sum-exps
    and sums that numba compiles, where float64 costs nothing, keep float64. The backward pass has
    the precision of its forward pass. The setting belongs to the current context: other threads and
    asyncio tasks keep their own.

    Returns:
        A context manager.

    Example:
        >>> import torch, rankwise
        >>> from rankwise.pairs import Hinge, pair_sum
        >>> upper, lower = torch.zeros(400), torch.arange(400.0) - 200
        >>> with rankwise.single_precision():
        ...     pair_sum(Hinge(), upper, lower)[0]  # 1 + 2 + … + 200
        tensor(20100.)
    """
    token = single.set(True)
    try:
        yield
    finally:
        single.reset(token)
