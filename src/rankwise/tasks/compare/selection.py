"""Which candidate is recommended, by validation alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from rankwise.tasks.compare.fit import Finished
from rankwise.tasks.compare.metrics import Estimate, corrected
from rankwise.tasks.compare.model import Model
from rankwise.tasks.compare.problem import Problem


@dataclass(frozen=True)
class Choice:
    """The recommended candidate, the one to compare with, and the reason."""

    recommended: int
    baseline: int
    why: str


def on_common_splits(finished: Sequence[Finished]) -> list[Finished]:
    """Without the splits that some candidate had no time for: all are compared on the same."""
    fewest = min((len(each.judged) for each in finished), default=0)
    return [replace(each, judged=each.judged[:fewest]) for each in finished]


def choose(finished: Sequence[Finished], metric: str) -> Choice:
    """The best mean on validation; log-loss where nothing beats it.

    The baseline is the best of those trained on log-loss, so that what is recommended is never
    worse than it on validation.
    """
    plain = [n for n, each in enumerate(finished) if each.candidate.is_log_loss]
    others = [n for n, each in enumerate(finished) if not each.candidate.is_log_loss]
    baseline = max(plain, key=lambda n: finished[n].mean)
    rival = max(others, key=lambda n: finished[n].mean, default=None)
    log_loss = f"{finished[baseline].candidate.name} ({finished[baseline].mean:.4f})"
    if rival is None:
        only = "the best on validation" if len(plain) > 1 else "the only candidate"
        return Choice(baseline, baseline, f"{log_loss} is {only} by {metric}; all were log-loss.")
    named = f"{finished[rival].candidate.name} ({finished[rival].mean:.4f})"
    if finished[rival].mean > finished[baseline].mean:
        why = f"{named} has the best {metric} on validation; the best log-loss model is {log_loss}."
        return Choice(rival, baseline, why)
    why = (
        f"Log-loss won: {log_loss} has the best {metric} on validation, "
        f"and nothing trained on the metric beat it; the nearest is {named}."
    )
    return Choice(baseline, baseline, why)


def validation_of(each: Finished, problem: Problem) -> Estimate:
    """The metric on validation with its interval.

    Of one part, that of the metric; over folds that of :func:`corrected`, within 0 and 1.
    """
    plan = problem.plan
    if not plan.crosses:
        found = problem.interval(each.judged[0].scores, plan.splits[0][1])
        return Estimate(found.value, found.low, found.high)
    return corrected(each.values, *map(len, plan.splits[0])).within(0.0, 1.0)


Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Tested:
    """A model, and rows that it has not seen."""

    model: Model
    rows: Rows


class Evaluation(ABC):
    """Candidates by number on tested rows."""

    words: str  # what was tested on, for a reader

    @property
    @abstractmethod
    def rows(self) -> Rows:
        """The rows that were tested, each once."""

    @abstractmethod
    def scores(self, number: int) -> Floats:
        """Scores of these rows by models that have not seen them."""

    @abstractmethod
    def probabilities(self, number: int) -> Floats:
        """Calibrated probabilities of these rows."""

    @abstractmethod
    def value(self, number: int, metric: str) -> float:
        """A metric of a candidate."""

    @abstractmethod
    def estimate(self, number: int) -> Estimate:
        """The metric that decides, with its interval."""

    @abstractmethod
    def difference(self, number: int, base: int) -> Estimate:
        """The metric of one candidate minus that of another, paired."""

    @abstractmethod
    def tested(self, number: int) -> list[Tested]:
        """The models of a candidate, each with the rows that it was tested on; each row once."""

    @abstractmethod
    def same_ranking(self, number: int, base: int) -> bool:
        """Whether two candidates put all tested rows in the same order, ties included."""


@dataclass(frozen=True, eq=False)
class HeldOut(Evaluation):
    """One test part."""

    finished: Sequence[Finished]
    problem: Problem
    words: str = "the test part"

    @property
    def rows(self) -> Rows:
        return self.problem.plan.parts.test

    def scores(self, number: int) -> Floats:
        return self.finished[number].test

    def probabilities(self, number: int) -> Floats:
        return self.finished[number].probability

    def value(self, number: int, metric: str) -> float:
        return self.problem.value(self.scores(number), self.rows, metric)

    def estimate(self, number: int) -> Estimate:
        found = self.problem.interval(self.scores(number), self.rows)
        return Estimate(found.value, found.low, found.high)

    def difference(self, number: int, base: int) -> Estimate:
        if self.same_ranking(number, base):
            return Estimate(0.0, 0.0, 0.0, 1.0)
        found = self.problem.difference(self.scores(number), self.scores(base), self.rows)
        return Estimate(found.difference, found.low, found.high, found.p_value)

    def tested(self, number: int) -> list[Tested]:
        return [Tested(self.finished[number].model, self.rows)]

    def same_ranking(self, number: int, base: int) -> bool:
        return _same_order(self.scores(number), self.scores(base))


@dataclass(frozen=True, eq=False)
class CrossValidated(Evaluation):
    """Folds that are test parts in turn; ``folds`` holds the candidates of each, in one order."""

    folds: Sequence[tuple[Problem, Sequence[Finished]]]
    repeats: int

    @property
    def words(self) -> str:  # type: ignore[override]
        count = len(self.folds) // self.repeats
        return f"{count}-fold cross-validation of all rows × {self.repeats}"

    @property
    def _first(self) -> Sequence[tuple[Problem, Sequence[Finished]]]:
        """The folds of the first repeat, which together are all rows."""
        return self.folds[: len(self.folds) // self.repeats]

    @property
    def _order(self) -> Rows:
        return np.concatenate([problem.plan.parts.test for problem, _ in self._first])

    @property
    def rows(self) -> Rows:
        return np.sort(self._order)

    def scores(self, number: int) -> Floats:
        # Log-odds of ranks: scores of models of different folds have no scale in common.
        parts = [done[number].test_ranked for _, done in self._first]
        return np.concatenate(parts)[np.argsort(self._order)]

    def probabilities(self, number: int) -> Floats:
        parts = [done[number].probability for _, done in self._first]
        return np.concatenate(parts)[np.argsort(self._order)]

    def value(self, number: int, metric: str) -> float:
        return float(np.mean(self._values(number, metric)))

    def estimate(self, number: int) -> Estimate:
        return corrected(self._values(number), *self._sizes).within(0.0, 1.0)

    def difference(self, number: int, base: int) -> Estimate:
        pairs = zip(self._values(number), self._values(base), strict=True)
        return corrected([one - other for one, other in pairs], *self._sizes)

    def of_the_choice(self) -> float:
        """The metric of what would have been recommended in each fold without its test part."""
        metric = self.folds[0][0].metric
        values = [
            problem.value(done[choose(done, metric).recommended].test, problem.plan.parts.test)
            for problem, done in self.folds
        ]
        return float(np.mean(values))

    def tested(self, number: int) -> list[Tested]:
        return [Tested(done[number].model, at.plan.parts.test) for at, done in self._first]

    def same_ranking(self, number: int, base: int) -> bool:
        return all(_same_order(done[number].test, done[base].test) for _, done in self.folds)

    def _values(self, number: int, metric: str | None = None) -> list[float]:
        return [
            problem.value(done[number].test, problem.plan.parts.test, metric)
            for problem, done in self.folds
        ]

    @property
    def _sizes(self) -> tuple[int, int]:
        parts = self.folds[0][0].plan.parts
        return len(parts.development), len(parts.test)


def _same_order(one: Floats, other: Floats) -> bool:
    return np.array_equal(rankdata(one), rankdata(other))
