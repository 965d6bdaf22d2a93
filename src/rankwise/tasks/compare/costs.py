"""The cost of fitting a candidate, estimated by short fits on few rows."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.fit import fit_members, scored
from rankwise.tasks.compare.problem import Plan, Problem, Rows

_SIZES = (500, 4_000, 32_000)  # rows of the fits
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


def warm_up(candidate: Candidate, problem: Problem) -> None:
    """Fit once on few rows: a process loads libraries at its first fit only."""
    try:
        _timed(candidate, problem, _some(problem, _SIZES[0]))
    except (ValueError, ArithmeticError):
        return  # the trials will fail, too, and say why


def measure(candidate: Candidate, problem: Problem, seconds: float) -> Cost:
    """Fit shortly on 500 and on 4000 rows, on 32 000 where there is time, and draw the line.

    In seconds of the processor: those of the clock depend on what else a machine does in the few
    hundredths of a second that a small fit takes. The line goes through the first and the last
    fit, but never below half of the last one's seconds per row: what takes a while at any size
    must not hide what grows.
    """
    ends = time.perf_counter() + seconds
    rows = problem.plan.splits[0][0]
    points: list[tuple[int, float, float]] = []
    try:
        for size in _SIZES:
            if len(points) > 1 and time.perf_counter() + _GROWTH * points[-1][1] > ends:
                break
            some = _some(problem, size)
            points.append((len(some), *_timed(candidate, problem, some)))
            if len(some) == len(rows):
                break
    except (ValueError, ArithmeticError):
        if not points:
            return Cost(0.0, 0.0, 0.0)
    (few, first, _), (many, last, scoring) = points[0], points[-1]
    slope = max(last - first, 0.0) / (many - few) if many > few else last / many
    slope = max(slope, 0.5 * last / many)
    return Cost(max(0.0, last - slope * many), slope, scoring / many)


def _timed(candidate: Candidate, problem: Problem, rows: Rows) -> tuple[float, float]:
    """Return the seconds of a short fit, and of scoring its rows."""
    began = time.process_time()
    members = fit_members(candidate, {}, problem, rows, problem.seeds[:1], short=True)
    fitted = time.process_time()
    scored(members, problem, rows)
    return fitted - began, time.process_time() - fitted


def _some(problem: Problem, size: int) -> Rows:
    """Draw training rows with both classes; whole lists, where there are lists."""
    rows, rng = problem.plan.splits[0][0], np.random.default_rng(problem.settings.seed)
    return problem.sample(rows, size / len(rows), _LEAST, rng)
