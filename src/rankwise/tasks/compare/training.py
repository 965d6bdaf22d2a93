"""Train the candidates of one problem: tune, evaluate and fit each within its share of time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from rankwise.data import Split
from rankwise.estimators.limits import time_limit
from rankwise.tasks.compare.budget import Budget, Cost
from rankwise.tasks.compare.candidates import Candidate
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


def train(
    candidates: Sequence[Candidate],
    problem: Problem,
    budget: Budget,
    store: TrialStore,
    *,
    folder: Path,
    rounds_left: int = 1,
    on_progress: Callable[[Candidate, Progress], None] = lambda candidate, progress: None,
) -> tuple[dict[str, Fitted], dict[str, str]]:
    """Return candidates by name that are done, now or in an earlier run, and why others failed.

    They are trained ``rounds_left`` times in all before the budget must be used up. Those that
    are done are kept in ``folder``.
    """
    fitted: dict[str, Fitted] = {}
    failed: dict[str, str] = {}
    for place, candidate in enumerate(candidates):
        name = store.name(candidate)
        done = load_candidate(folder / name, candidate)
        if done is None:
            left = [*candidates[place:], *(rounds_left - 1) * list(candidates)]
            share, cost = budget.share(name, problem, left), budget.costs[candidate.key]
            began, used, report = time.perf_counter(), 0.0, partial(on_progress, candidate)
            try:
                tuned = tune(
                    candidate, problem, store=store, seconds=share, cost=cost, on_trial=report
                )
                used = tuned.seconds
                done = finish(candidate, problem, tuned, share, cost)
            except CandidateError as error:
                failed[candidate.name] = str(error)
                continue
            finally:
                budget.spend(name, max(used, time.perf_counter() - began))
            save_candidate(folder / name, done)
        fitted[candidate.name] = done
    common = on_common_splits(list(fitted.values()))
    return dict(zip(fitted, common, strict=True)), failed


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
