"""The time budget of a run, shared by its candidates; its decisions are written down.

A resumed run reads what was decided, so that it has the same candidates, the same splits and the
same shares however fast the machine is this time.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from rankwise.report import write_json
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.costs import Cost, measure, warm_up
from rankwise.tasks.compare.importance import SHARE
from rankwise.tasks.compare.problem import Problem

TIMING = "timing.json"
_PILOT = 0.1  # share of the budget in which costs are estimated
_TELLING = 0.1  # seconds of work from which the clock can be compared with the processor's
_ROOM = 0.5  # share of the budget that the shortest fits may take where folds are chosen by


class _Decision(TypedDict, total=False):
    budget: float
    shares: dict[str, float]
    one_part: bool
    left_out: dict[str, str]  # messages by candidate
    announced: list[str]


class _Record(_Decision):
    """The content of ``timing.json``."""

    pilot_seconds: float
    costs: dict[str, list[float]]
    seconds: dict[str, float]


class Budget:
    """The decisions of the time budget, and the seconds spent."""

    def __init__(self, path: Path, record: _Record) -> None:
        self._path = path
        self._record = record
        self.costs = {key: Cost(*numbers) for key, numbers in record["costs"].items()}

    @property
    def one_part(self) -> bool:
        """Whether the choice is made by one validation part for lack of time."""
        return bool(self._record["one_part"])

    @property
    def left_out(self) -> Mapping[str, str]:
        """Candidates by name for which one trial alone takes too long, with the message."""
        return dict(self._record["left_out"])

    @property
    def announcements(self) -> list[str]:
        """Messages to show before the training begins, besides those on what is left out."""
        return list(self._record["announced"])

    def share(self, name: str, problem: Problem, left: Sequence[Candidate]) -> float:
        """Return the seconds of the first of those left: its shortest trial and an equal share.

        ``name`` is its name in the store of trials.
        """
        shares: dict[str, float] = self._record["shares"]
        if name not in shares:
            seeds = problem.settings.seeds
            least = [self.costs[each.key].trial(problem.plan, seeds) for each in left]
            least = [each + self._overhead() for each in least]
            remaining = _training(float(self._record["budget"])) - self._spent()
            slack = max(0.0, remaining - sum(least)) / len(left)
            shares[name] = least[0] - self._overhead() + slack
            self._write()
        return float(shares[name])

    def spend(self, name: str, seconds: float) -> None:
        """Record the seconds that a candidate has taken."""
        self._record["seconds"][name] = seconds
        self._write()

    def _overhead(self) -> float:
        """Return the mean seconds of a candidate beyond its share: storing trials takes time."""
        seconds, shares = self._record["seconds"], self._record["shares"]
        over = [max(0.0, seconds[name] - shares[name]) for name in seconds if name in shares]
        return sum(over) / len(over) if over else 0.0

    def _spent(self) -> float:
        return float(self._record["pilot_seconds"] + sum(self._record["seconds"].values()))

    def _write(self) -> None:
        write_json(self._path, self._record)


def open_budget(
    folder: Path,
    problem: Problem,
    trained: Sequence[Candidate],
    *,
    rounds: int = 1,
    on_candidate: Callable[[Candidate], None] = lambda candidate: None,
) -> Budget:
    """Estimate the cost of every candidate and decide, or read what was decided before.

    ``rounds`` is the number of times all candidates are trained. With another budget than before
    the candidates are decided again, but not the splits: finished work used these.
    """
    path, seconds = folder / TIMING, problem.settings.budget
    record = _read(path)
    if record is None:
        for candidate in {each.model: each for each in trained}.values():
            warm_up(candidate, problem)
        began, worked, costs = time.perf_counter(), time.process_time(), {}
        for candidate in trained:
            on_candidate(candidate)
            costs[candidate.key] = measure(candidate, problem, _PILOT * seconds / len(trained))
        taken, worked = time.perf_counter() - began, time.process_time() - worked
        # How busy the machine is with other work, where that can be measured.
        busy = max(1.0, taken / worked) if worked > _TELLING else 1.0
        slow = {key: cost.times(busy) for key, cost in costs.items()}
        record = {
            "pilot_seconds": taken,
            "costs": {k: [c.fixed, c.per_row, c.per_scored_row] for k, c in slow.items()},
            "seconds": {},
        }
    if record.get("budget") != seconds:
        costs = {key: Cost(*numbers) for key, numbers in record["costs"].items()}
        decided = _decide(problem, trained, costs, rounds, record)
        record = {**record, **decided, "budget": seconds, "shares": {}}
        write_json(path, record)
    return Budget(path, record)


def _decide(
    problem: Problem,
    trained: Sequence[Candidate],
    costs: Mapping[str, Cost],
    rounds: int,
    before: _Record,
) -> _Decision:
    settings, plan, pilot = problem.settings, problem.plan, float(before["pilot_seconds"])
    available = _training(settings.budget) - pilot

    def needed(candidate: Candidate) -> float:
        return rounds * costs[candidate.key].trial(plan, settings.seeds)

    announced = []
    folds = sum(map(needed, trained))
    one_part = bool(before.get("one_part", plan.cross_validated and folds > _ROOM * available))
    if one_part:
        longer = _as_budget(folds / _ROOM + pilot)
        announced.append(
            f"--budget {_as_budget(settings.budget)} is too short for {plan.describe(plan.tuned)}: "
            f"the choice is made by one validation part; pass --budget {longer} for folds"
        )
        plan = plan.single_split()
    total, left_out = 0.0, {}
    by_cost = sorted(trained, key=needed)
    first = next((each for each in by_cost if each.is_log_loss), by_cost[0])
    everything = _as_budget(1.2 * (sum(map(needed, trained)) + pilot))
    for candidate in [first, *(each for each in by_cost if each is not first)]:
        takes = needed(candidate)
        if candidate is first or total + takes <= available:
            total += takes
            if total > available:
                announced.append(
                    f"{candidate.name}: one trial takes about {_shown(takes)}, longer than "
                    f"--budget {_as_budget(settings.budget)}; it is trained all the same, since "
                    "a comparison needs a model of log-loss"
                )
            continue
        left_out[candidate.name] = (
            f"{candidate.name}: one trial takes about {_shown(takes)}, longer than its share of "
            f"{_shown(max(0.0, available / len(trained)))} of --budget "
            f"{_as_budget(settings.budget)}; it is left out: pass --budget {everything}, or fewer "
            "--candidates"
        )
    ordered = {each.name: left_out[each.name] for each in trained if each.name in left_out}
    return {"one_part": one_part, "left_out": ordered, "announced": announced}


def _training(budget: float) -> float:
    """Return the part of a budget for training; the rest is for column importance."""
    return (1 - SHARE) * budget


def _read(path: Path) -> _Record | None:
    try:
        found: _Record = json.loads(path.read_text())
        return found if {"pilot_seconds", "costs", "seconds"} <= set(found) else None
    except (OSError, ValueError, TypeError):
        return None


def _shown(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def _as_budget(seconds: float) -> str:
    """Format a time as ``--budget`` takes it, rounded up."""
    if seconds < 10:
        return f"{math.ceil(10 * seconds) / 10:g}s"
    if seconds <= 120:
        return f"{math.ceil(seconds)}s"
    return f"{math.ceil(seconds / 60)}m" if seconds <= 7200 else f"{math.ceil(seconds / 360) / 10}h"
