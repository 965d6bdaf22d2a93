"""Times and memory of one call, as ratios to something known on the same data."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = [
    "Result",
    "least_processor_seconds",
    "measure_in_fresh_process",
    "seconds",
    "seconds_side_by_side",
]


@dataclass(frozen=True)
class Result:
    """One line of the table: a measured number, its limit if there is one, its ingredients."""

    name: str
    value: float
    unit: str
    limit: str = ""
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def holds(self) -> bool | None:
        """Whether the limit is kept; None without a limit."""
        if not self.limit:
            return None
        relation, bound = self.limit.split()
        return self.value <= float(bound) if relation == "<=" else self.value >= float(bound)

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "holds": self.holds}


def seconds(call: Callable[[], object], repeats: int = 5) -> float:
    """Median time of ``call`` after one warm-up."""
    return seconds_side_by_side([call], repeats)[0]


def seconds_side_by_side(calls: list[Callable[[], object]], repeats: int = 5) -> list[float]:
    """Median times of several calls taken in turns, so that a slow moment hits all of them."""
    for call in calls:
        call()
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(repeats):
        for call, taken in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in times]


def least_processor_seconds(calls: list[Callable[[], object]], repeats: int) -> list[float]:
    """Least processor time of calls taken in turns: other work on the machine changes it least."""
    least = [float("inf")] * len(calls)
    for repeat in range(repeats + 1):
        for number, call in enumerate(calls):
            start = time.process_time()
            call()
            if repeat:  # the first one compiles
                least[number] = min(least[number], time.process_time() - start)
    return least


def measure_in_fresh_process(
    module: str, *arguments: str, python: str = sys.executable
) -> dict[str, Any]:
    """Run ``python -m module arguments``, read the JSON it prints: a peak starts from zero."""
    command = [python, "-m", module, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result
