"""The time budget of a run, shared by its candidates by what short fits of each cost.

Its decisions are written down: a resumed run reads them, so that it has the same candidates, the
same splits and the same shares however fast the machine is this time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from rankwise.report import write_whole
from rankwise.seals import read_sealed_json, sealed_json
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.fit import fit_members, scored
from rankwise.tasks.compare.importance import SHARE
from rankwise.tasks.compare.problem import Plan, Problem, Rows, pilot_problem

TIMING = "timing.json"
_TRAINING = 1 - SHARE  # share of the budget for training; the rest is for column importance
_PILOT = 0.1  # share of the budget in which costs are estimated
_TELLING = 0.1  # seconds of work from which the clock can be compared with the processor's
_ROOM = 0.5  # share of the budget that the shortest fits may take where folds are chosen by
_SIZES = (500, 4_000, 32_000, 256_000)  # rows of the fits
_GROWTH = 8  # from one to the next
_LEAST = 8  # minimum number of rows of a class, if there are
_CAUTION = 1.25  # scoring cannot be cut short: rather too early than too late
_HELD_OUT = 0.2  # share of the rows of a fit that are scored once more for its calibration


class Cost(NamedTuple):
    """Seconds of the shortest useful fit on some rows, and of scoring rows."""

    fixed: float
    per_row: float
    per_scored_row: float

    def fit(self, rows: int) -> float:
        """Return the seconds of the shortest useful fit."""
        return self.fixed + self.per_row * rows

    def after(self, fitted: int, scored: int) -> float:
        """Return the seconds after the training: scoring the rows it was fitted on and others."""
        return _CAUTION * self.per_scored_row * ((1 + _HELD_OUT) * fitted + scored)

    def trial(self, plan: Plan, seeds: int = 1) -> float:
        """Return the seconds of one trial of the shortest useful length, with the final fits.

        Options are tuned with one seed; with several the splits are fitted again by each.
        """
        tried = sum(self._split(*split) for split in plan.splits[: plan.tuned])
        last = self._split(plan.parts.development, plan.parts.test)
        return tried + seeds * last + (seeds * tried if seeds > 1 else 0.0)

    def _split(self, train: Rows, validation: Rows) -> float:
        return self.fit(len(train)) + self.per_scored_row * len(validation)


def measure(candidate: Candidate, problem: Problem, seconds: float) -> Cost:
    """Fit shortly on 500 and 4000 rows, then on 32 000 and 256 000 while there is time.

    What takes a while at any size is 50 times as much a row with 500 rows as with 32 000, and
    small fits have one thread: a large table is estimated from the largest fit that there is time
    for. The line goes through the first and the last fit, but never below half of the last one's
    seconds per row: what takes a while at any size must not hide what grows.
    """
    ends = time.perf_counter() + seconds
    points: list[tuple[int, float, float]] = []
    with suppress(ValueError, ArithmeticError):
        for size in _SIZES:
            if len(points) > 1 and time.perf_counter() + _GROWTH * points[-1][1] > ends:
                break
            points.append(_timed(candidate, problem, size))
            if points[-1][0] == len(problem.plan.splits[0][0]):
                break
    if not points:
        return Cost(0.0, 0.0, 0.0)
    (few, first, _), (many, last, scoring) = points[0], points[-1]
    slope = max(last - first, 0.0) / (many - few) if many > few else last / many
    slope = max(slope, 0.5 * last / many)
    return Cost(max(0.0, last - slope * many), slope, scoring / many)


def _timed(candidate: Candidate, problem: Problem, size: int) -> tuple[int, float, float]:
    """Return the training rows of a short fit, its seconds, and those of scoring these rows.

    The rows have both classes; they are whole lists, where there are lists. The seconds are those
    of the processor, since those of the clock depend on what else a machine does in the few
    hundredths of a second that a small fit takes, or of the clock where several threads make them
    fewer.
    """
    every, rng = problem.plan.splits[0][0], np.random.default_rng(problem.settings.seed)
    rows = problem.sample(every, size / len(every), _LEAST, rng)
    began = _now()
    members = fit_members(candidate, {}, problem, rows, problem.seeds[:1], short=True)
    fitted = _now()
    scored(members, problem, rows)
    done = _now()
    return len(rows), float((fitted - began).min()), float((done - fitted).min())


def _now() -> NDArray[np.float64]:
    """Return the seconds of the processor and of the clock."""
    return np.array([time.process_time(), time.perf_counter()])


class Budget(BaseModel):
    """The decisions of the time budget, and the seconds spent: the content of ``timing.json``."""

    path: Path = Field(exclude=True)
    pilot_seconds: float
    costs: dict[str, Cost]  # by the key of a candidate
    seconds: dict[str, float] = {}
    shares: dict[str, float] = {}
    budget: float | None = None
    one_part: bool | None = None  # whether one validation part chooses for lack of time
    left_out: dict[str, str] = {}  # candidates whose trials take too long, with the message
    announced: list[str] = []  # shown before the training, besides what is left out

    def share(self, name: str, problem: Problem, left: Sequence[Candidate]) -> float:
        """Return the seconds of the first of those left: its shortest trial and an equal share.

        ``name`` is its name in the store of trials.
        """
        if name not in self.shares:
            # Storing trials takes time: candidates take more seconds than their shares.
            both = self.seconds.keys() & self.shares.keys()
            over = [max(0.0, self.seconds[each] - self.shares[each]) for each in both] or [0.0]
            settings = problem.settings
            least = [self.costs[each.key].trial(problem.plan, settings.seeds) for each in left]
            spent = self.pilot_seconds + sum(self.seconds.values()) + len(left) * fmean(over)
            remaining = _TRAINING * settings.budget - spent - sum(least)
            self.shares[name] = least[0] + max(0.0, remaining) / len(left)
            self.write()
        return self.shares[name]

    def spend(self, name: str, seconds: float) -> None:
        """Record the seconds that a candidate has taken."""
        self.seconds[name] = seconds
        self.write()

    def write(self) -> None:
        """Write the file that a resumed run reads."""
        write_whole(self.path, sealed_json(self.model_dump(mode="json")))


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
    the candidates are decided again, but not the splits: finished work used these. A candidate
    that an earlier version did not have is not part of its runs, and has no cost.
    """
    path, seconds = folder / TIMING, problem.settings.budget
    try:
        found = Budget.model_validate({**read_sealed_json(path.read_bytes()), "path": path})
    except (OSError, ValueError, TypeError):
        pilot = pilot_problem(problem, _SIZES[-1])
        for candidate in {each.model: each for each in trained}.values():
            # A process loads libraries at its first fit only; trials that fail will say why.
            with suppress(ValueError, ArithmeticError):
                _timed(candidate, pilot, _SIZES[0])
        began, worked, costs = time.perf_counter(), time.process_time(), {}
        for candidate in trained:
            on_candidate(candidate)
            costs[candidate.key] = measure(candidate, pilot, _PILOT * seconds / len(trained))
        taken, worked = time.perf_counter() - began, time.process_time() - worked
        # How busy the machine is with other work, where that can be measured.
        busy = max(1.0, taken / worked) if worked > _TELLING else 1.0
        slow = {key: Cost(*(busy * each for each in cost)) for key, cost in costs.items()}
        found = Budget(path=path, pilot_seconds=taken, costs=slow)
    if found.budget != seconds:
        _decide(found, problem, [each for each in trained if each.key in found.costs], rounds)
        found.budget, found.shares = seconds, {}
        found.write()
    return found


def _decide(budget: Budget, problem: Problem, trained: Sequence[Candidate], rounds: int) -> None:
    """Decide how the choice is made, unless it is decided, and which candidates are left out."""
    settings, plan, pilot = problem.settings, problem.plan, budget.pilot_seconds
    asked, available = _as_budget(settings.budget), _TRAINING * settings.budget - pilot

    def needed(candidate: Candidate) -> float:
        return rounds * budget.costs[candidate.key].trial(plan, settings.seeds)

    budget.announced, folds = [], sum(map(needed, trained))
    if budget.one_part is None:
        budget.one_part = plan.cross_validated and folds > _ROOM * available
    if budget.one_part:
        longer = _as_budget(folds / _ROOM + pilot)
        budget.announced.append(
            f"--budget {asked} is too short for {plan.describe(plan.tuned)}: "
            f"the choice is made by one validation part; pass --budget {longer} for folds"
        )
        plan = plan.single_split()
    by_cost = sorted(trained, key=needed)
    first = min(by_cost, key=lambda each: each.second or not each.is_log_loss)
    total, kept = needed(first), {first.name}
    if total > available:
        budget.announced.append(
            f"{first.name}: one trial takes about {_shown(total)}, longer than the "
            f"{_shown(max(0.0, available))} that --budget {asked} leaves for training; "
            "it is trained anyway, because the comparison needs a log-loss model"
        )
    for candidate in by_cost:
        if candidate is not first and total + needed(candidate) <= available:
            total += needed(candidate)
            kept.add(candidate.name)
    everything = _as_budget(1.2 * (sum(map(needed, trained)) + pilot))
    budget.left_out = {
        each.name: f"{each.name}: one trial takes about {_shown(needed(each))}, longer than its "
        f"share of {_shown(max(0.0, available / len(trained)))} of --budget {asked}; "
        f"it is left out: pass --budget {everything}, or fewer --candidates"
        for each in trained
        if each.name not in kept
    }


def _shown(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def _as_budget(seconds: float) -> str:
    """Format a time as ``--budget`` takes it, rounded up."""
    if seconds < 10:
        return f"{math.ceil(10 * seconds) / 10:g}s"
    if seconds <= 120:
        return f"{math.ceil(seconds)}s"
    return f"{math.ceil(seconds / 60)}m" if seconds <= 7200 else f"{math.ceil(seconds / 360) / 10}h"
