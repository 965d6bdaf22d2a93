"""One trial of a search: options evaluated on splits, in this process or in another."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rankwise.estimators.limits import time_limit
from rankwise.tasks.compare.budget import Cost
from rankwise.tasks.compare.candidates import Candidate, Params
from rankwise.tasks.compare.fit import FoldScores, fit_members, scored
from rankwise.tasks.compare.problem import Problem, Rows


@dataclass(frozen=True, eq=False)
class TrialResult:
    """Scores of the splits that were evaluated, and how the trial ended."""

    folds: tuple[FoldScores, ...]
    seconds: float
    pruned: bool = False
    failed: str | None = None  # the error of options that cannot be fitted


@dataclass(frozen=True, eq=False)
class Trials:
    """Everything that the trials of a candidate share."""

    candidate: Candidate
    problem: Problem
    cost: Cost

    def evaluate(
        self, params: Params, split: tuple[Rows, Rows], seeds: range, seconds: float
    ) -> FoldScores:
        """Fit on the training rows of a split, score its validation rows, all in some seconds."""
        train, validation = split
        with time_limit(seconds - len(seeds) * self.cost.after(*map(len, split))) as limit:
            members = fit_members(self.candidate, params, self.problem, train, seeds)
        scores, ranked = scored(members, self.problem, validation)
        value = self.problem.value(scores, validation)
        return FoldScores(scores, ranked, value, limit.reached)

    def splits(self, params: Params, seconds: float) -> Iterator[FoldScores]:
        """Fit on one tuned split after another, each within its part of the time."""
        ends, plan = time.perf_counter() + seconds, self.problem.plan
        for step, split in enumerate(plan.splits[: plan.tuned]):
            part = (ends - time.perf_counter()) / (plan.tuned - step)
            yield self.evaluate(params, split, self.problem.seeds[:1], part)

    def run(
        self,
        params: Params,
        seconds: float,
        prune: Callable[[list[FoldScores]], bool] = lambda folds: False,
    ) -> TrialResult:
        """Evaluate options; ``prune`` is asked after every split but the last."""
        folds, began, pruned, failed = list[FoldScores](), time.perf_counter(), False, None
        try:
            for step, each in enumerate(self.splits(params, seconds)):
                folds.append(each)
                if step + 1 < self.problem.plan.tuned and prune(folds):
                    pruned = True
                    break
            if not np.isfinite(mean_of(folds)):
                raise ValueError(f"{self.problem.metric} is not defined for any validation row")
        except (ValueError, ArithmeticError) as error:
            failed = " ".join(str(error).split())
        return TrialResult(tuple(folds), time.perf_counter() - began, pruned, failed)


def mean_of(folds: Sequence[FoldScores]) -> float:
    """Return the mean of the metric over splits."""
    return float(np.mean([each.value for each in folds]))
