"""Train the candidates of one problem: tune, evaluate and fit each within its share of time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rankwise.data import Split
from rankwise.estimators.limits import time_limit
from rankwise.tasks.compare.budget import Budget
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.costs import Cost
from rankwise.tasks.compare.fit import (
    Fitted,
    evaluate_split,
    fit_members,
    load_candidate,
    save_candidate,
    scored,
)
from rankwise.tasks.compare.model import Model
from rankwise.tasks.compare.problem import Problem
from rankwise.tasks.compare.selection import on_common_splits
from rankwise.tasks.compare.training_rows import TrainingRows
from rankwise.tasks.compare.trials import TrialStore
from rankwise.tasks.compare.tuning import CandidateError, Progress, Tuned, fits_of_last, tune


@dataclass(frozen=True, eq=False)
class Trainer:
    """Trains candidates within a budget, and keeps those that are done."""

    folder: Path  # of the candidates that are done
    budget: Budget
    store: TrialStore
    on_progress: Callable[[Candidate, Progress], None]

    def train(
        self, candidates: Sequence[Candidate], problem: Problem, rounds_left: int = 1
    ) -> tuple[dict[str, Fitted], dict[str, str]]:
        """Return candidates by name that are done, now or in an earlier run, and why others failed.

        They are trained ``rounds_left`` times in all before the budget must be used up.
        """
        fitted: dict[str, Fitted] = {}
        failed: dict[str, str] = {}
        for place, candidate in enumerate(candidates):
            folder = self.folder / self.store.name(candidate)
            done = load_candidate(folder, candidate)
            if done is None:
                left = [*candidates[place:], *(rounds_left - 1) * list(candidates)]
                try:
                    done = self._trained(candidate, problem, left)
                except CandidateError as error:
                    failed[candidate.name] = str(error)
                    continue
                save_candidate(folder, done)
            fitted[candidate.name] = done
        common = on_common_splits(list(fitted.values()))
        return dict(zip(fitted, common, strict=True)), failed

    def _trained(self, candidate: Candidate, problem: Problem, left: list[Candidate]) -> Fitted:
        name = self.store.name(candidate)
        share = self.budget.share(name, problem, left)
        cost = self.budget.costs[candidate.key]
        began, used = time.perf_counter(), 0.0
        try:
            tuned = tune(
                candidate,
                problem,
                store=self.store,
                seconds=share,
                cost=cost,
                on_trial=lambda progress: self.on_progress(candidate, progress),
            )
            used = tuned.seconds
            return finish(candidate, problem, tuned, share, cost)
        finally:
            self.budget.spend(name, max(used, time.perf_counter() - began))


def finish(
    candidate: Candidate, problem: Problem, tuned: Tuned, seconds: float, cost: Cost
) -> Fitted:
    """Evaluate the chosen options on more splits if there is time, fit on all but the test part.

    The final fit has the time that is left, and never less than those that it was chosen by had.
    """
    began = time.perf_counter()
    plan, seeds, params = problem.plan, problem.seeds, tuned.params
    folds = list(tuned.folds) if len(seeds) == 1 else []  # tuned with the first seed alone
    per_fit = tuned.per_fit * len(seeds)
    last = per_fit * fits_of_last(problem)
    ends = began + seconds - tuned.seconds
    further = per_fit * (len(plan.splits) - len(folds))
    wanted = len(plan.splits) if began + further + last <= ends else plan.tuned
    rest = plan.splits[len(folds) : wanted]
    for step, split in enumerate(rest):
        part = max(per_fit, (ends - last - time.perf_counter()) / (len(rest) - step))
        limit = part - len(seeds) * cost.after(*map(len, split))
        folds.append(evaluate_split(candidate, params, problem, split, seeds, seconds=limit))
    after = len(seeds) * cost.after(len(plan.parts.development), 2 * len(plan.parts.test))
    with time_limit(max(last, ends - time.perf_counter()) - after) as final:
        members = fit_members(candidate, params, problem, plan.parts.development, seeds)
    about = {
        "candidate": candidate.name,
        "metric": problem.metric,
        "target": problem.settings.target,
        "positive": problem.table.positive,
    }
    model = Model(members, problem.table.reading, about, _training_rows(problem))
    test = ranked = probability = np.zeros(0)
    if len(plan.parts.test):
        test, ranked = scored(members, problem, plan.parts.test)
        probability = model.probabilities(problem.table.of(plan.parts.test))
    return Fitted(
        candidate=candidate,
        params=params,
        trials=tuned.trials,
        seconds=tuned.seconds + time.perf_counter() - began,
        curve=tuned.curve,
        folds=tuple(folds),
        test=test,
        test_ranked=ranked,
        probability=probability,
        model=model,
        cut=final.reached or any(each.cut for each in folds),
    )


def _training_rows(problem: Problem) -> TrainingRows:
    """Return the rows of the final fit; without a test part a fold says how often rows repeat."""
    table, parts = problem.table, problem.plan.parts
    known = TrainingRows.of(table, parts)
    if len(parts.test):
        return known
    train, validation = problem.plan.splits[0]
    fold = TrainingRows.of(table, Split(train, train[:0], validation, parts.kind))
    return replace(known, held_out=fold.held_out, repeated=fold.repeated)
