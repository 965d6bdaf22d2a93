"""Limits of the time and the threads of a fit."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock

import torch
from threadpoolctl import threadpool_limits

LARGE = 5 * 10**7
"""Multiplications per step above which several threads pay: about 10 ms of one thread."""


@dataclass(eq=False)
class TimeLimit:
    """A point in time, and whether a training was ended by it."""

    ends: float
    reached: bool = False


_limit: ContextVar[TimeLimit | None] = ContextVar("time_limit", default=None)
_lock = Lock()
_inside = 0  # fits with one thread; several at a time where a search has threads of its own
_before = 1


@contextmanager
def time_limit(seconds: float) -> Iterator[TimeLimit]:
    """Limit the training of linear, boosted and neural rankers that are fitted inside.

    Checked between steps: after a batch, a tree or an iteration, of which there is always one.
    Reading X before the training and calibration after it are not cut short. An inner limit never
    ends later than the outer one.
    """
    outer = _limit.get()
    ends = time.perf_counter() + seconds
    limit = TimeLimit(ends if outer is None else min(ends, outer.ends))
    token = _limit.set(limit)
    try:
        yield limit
    finally:
        _limit.reset(token)
        if outer is not None:
            outer.reached |= limit.reached


def part_of_time(parts: int) -> AbstractContextManager[object]:
    """Limit the code inside to 1/``parts`` of the time that is left, if there is a limit."""
    outer = _limit.get()
    if outer is None:
        return nullcontext()
    return time_limit((outer.ends - time.perf_counter()) / parts)


def time_is_up() -> bool:
    """Return whether a limit is reached; a training that calls this must end then."""
    limit = _limit.get()
    if limit is None or time.perf_counter() < limit.ends:
        return False
    limit.reached = True
    return True


@contextmanager
def threads_for(work: float) -> Iterator[None]:
    """Use one thread, in torch and BLAS, where a step is too small to be shared.

    Threads that wait for each other keep a core busy. On a machine of two cores with other work a
    linear fit of 10⁵ × 50 took 10 s with two threads and 1.2 s with one, a network with batches of
    512 rows 50 s and 5 s; of 10⁶ × 50, 30 s and 12 s.

    Args:
        work: Multiplications of one step.
    """
    if work >= LARGE:
        yield
        return
    global _inside, _before  # noqa: PLW0603  (torch's number of threads is the process's, too)
    with _lock:
        if _inside == 0:
            _before = torch.get_num_threads()
            torch.set_num_threads(1)
        _inside += 1
    try:
        with threadpool_limits(1, user_api="blas"):
            yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                torch.set_num_threads(_before)
