"""The study in small: made-up images, an untrained network, a clock that ticks by call."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from tests.reproductions.retrieval.tiny import NETWORK, VIEWS
from tests.tasks.retrieval.cases import splits

from reproductions.retrieval.problem import Problem
from reproductions.retrieval_cost.plan import Plan


class Ticks:
    """A clock that goes on by a second with every look at it."""

    def __init__(self) -> None:
        self.looks = count()

    def __call__(self) -> float:
        return float(next(self.looks))


def fifty_megabytes(call: Callable[[], object]) -> int:
    """What every step takes, whatever the system says."""
    call()
    return 50 * 2**20


def small_plan(**changed: Any) -> Plan:
    """Three losses, one with a memory and one with proxies; a step takes a second."""
    given: dict[str, Any] = {
        "problems": tuple(Problem(name, splits(), VIEWS) for name in ("first", "second")),
        "extractor": NETWORK,
        "extractor_views": VIEWS,
        "only": ("SOPRC + memory", "SupCon", "Proxy-Anchor"),
        "seeds": 2,
        "rates": (0.01,),
        "feature_seconds": 4.0,
        "scratch_seconds": 2.0,
        "least_steps": 1,
        "memory_mb": 10_000,
        "batches": (8, 16, 4096),
        "chunk": 4,
        "timed": 1,
        "validations": 2,
        "dimension": 4,
        "width": 2,
        "clock": Ticks(),
        "peak_bytes": fifty_megabytes,
    }
    return Plan(**{**given, **changed})
