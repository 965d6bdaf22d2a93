"""How many threads a fit is worth."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import torch
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

__all__ = ["threads_for"]

LARGE = 5 * 10**7
"""Multiplications of one step from which several threads pay: some ten milliseconds of one."""

_lock = Lock()
_inside = 0  # fits that run with one thread; several at once where a search has threads of its own
_before = 1


@contextmanager
def threads_for(work: float) -> Iterator[None]:
    """One thread, of torch and of numpy's products, where a step is too small to be shared.

    Threads that wait for each other keep a core busy. On a machine of two cores with other work a
    linear fit of 10⁵ × 50 took 10 s with two threads and 1.2 s with one, a network with batches of
    512 rows 50 s and 5 s; of 10⁶ × 50, 30 s and 12 s.
    """
    if work >= LARGE:
        yield
        return
    _enter()
    try:
        with threadpool_limits(1, user_api="blas"):
            yield
    finally:
        _leave()


def _enter() -> None:
    global _inside, _before  # noqa: PLW0603  (torch's number is the process's, and so is this)
    with _lock:
        if _inside == 0:
            _before = torch.get_num_threads()
            torch.set_num_threads(1)
        _inside += 1


def _leave() -> None:
    global _inside  # noqa: PLW0603
    with _lock:
        _inside -= 1
        if _inside == 0:
            torch.set_num_threads(_before)
