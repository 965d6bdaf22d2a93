"""How long a fit may take: a training whose time is up ends with the best it has reached."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["TimeLimit", "part_of_time", "time_is_up", "time_limit"]


class TimeLimit:
    """A point in time, and whether a training was ended by it."""

    def __init__(self, ends: float) -> None:
        self.ends = ends
        self.reached = False


_limit: ContextVar[TimeLimit | None] = ContextVar("time_limit", default=None)


@contextmanager
def time_limit(seconds: float) -> Iterator[TimeLimit]:
    """Limit the training of linear, boosted and neural rankers that are fitted inside.

    Checked between steps: after a batch, a tree or an iteration, of which there is always one.
    What comes before and after the training (reading X, calibration) is not cut short. A limit
    inside another one never ends later than it.
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


@contextmanager
def part_of_time(parts: int) -> Iterator[None]:
    """Limit what is inside to one of so many equal parts of the time that is left, if limited."""
    outer = _limit.get()
    if outer is None:
        yield
        return
    with time_limit((outer.ends - time.perf_counter()) / parts):
        yield


def time_is_up() -> bool:
    """Whether a limit is reached; a training that asks must end then."""
    limit = _limit.get()
    if limit is None or time.perf_counter() < limit.ends:
        return False
    limit.reached = True
    return True
