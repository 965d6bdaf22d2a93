"""Tune the options of a candidate with optuna, within its share of the time."""

from __future__ import annotations

import time
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import optuna
from optuna.trial import FrozenTrial, TrialState

from rankwise.tasks.compare.budget import Cost
from rankwise.tasks.compare.candidates import (
    LOG_LOSS,
    Candidate,
    Params,
    defaults,
    options_of,
    space_of,
)
from rankwise.tasks.compare.fit import FoldScores, evaluate_split
from rankwise.tasks.compare.problem import Problem
from rankwise.tasks.compare.trials import TrialStore

_DONE = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)
_SECONDS, _FAILED, _FITS = "seconds", "failed", "fits"
_LAST_FIT = 1.1  # factor by which the fit on all rows may take longer than its rows explain
_BEFORE_PRUNING = 4  # trials that are always evaluated on every fold


class CandidateError(RuntimeError):
    """A candidate that could not be fitted with any options."""


@dataclass(frozen=True)
class Progress:
    """The progress of the tuning of a candidate."""

    trials: int
    best: float | None
    share: float  # of its time, or of its trials


NOT_BEGUN = Progress(0, None, 0.0)


@dataclass(frozen=True, eq=False)
class Tuned:
    """The best options, their scores on the tuned splits, and the time they took."""

    params: Params
    folds: tuple[FoldScores, ...]  # of the best options, on every tuned split
    trials: int
    seconds: float
    per_fit: float  # seconds of one fit
    curve: list[list[float]]


def fits_of_last(problem: Problem) -> float:
    """Return the cost of the fit on all rows but the test part, in fits of a split."""
    plan = problem.plan
    return _LAST_FIT * len(plan.parts.development) / len(plan.splits[0][0])


def tune(
    candidate: Candidate,
    problem: Problem,
    *,
    store: TrialStore,
    seconds: float,
    cost: Cost,
    on_trial: Callable[[Progress], None] = lambda progress: None,
) -> Tuned:
    """Try options until the time or the number of trials is used up; :func:`_known` come first.

    Every finished trial is stored and is not repeated: a later call resumes where
    an earlier one was stopped, and draws the options that it would have drawn. Time is left for
    what follows the tuning, the other splits and the last fit; a trial that would take it is cut
    short.
    """
    plan, trials, seeds = problem.plan, problem.settings.trials, problem.settings.seeds
    study, known = _study(candidate, store), _known(candidate, store)
    last = seeds * fits_of_last(problem) + (seeds * plan.tuned if seeds > 1 else 0)
    fits_after = seeds * (len(plan.splits) - plan.tuned) + last
    while True:
        done = _done(study)
        used = sum(trial.user_attrs[_SECONDS] for trial in done)
        at_best = _best(study)
        share = max(used / seconds, len(done) / trials)
        on_trial(Progress(len(done), at_best.value if at_best else None, min(1.0, share)))
        per_fit = used / max(1, sum(trial.user_attrs[_FITS] for trial in done))
        enough = used + per_fit * (plan.tuned + fits_after) > seconds
        if done and (enough or len(done) >= trials):
            break
        if len(done) < len(known) and not study.get_trials(states=(TrialState.WAITING,)):
            study.enqueue_trial(known[len(done)])
        first = seconds * plan.tuned / (plan.tuned + last)
        allowed = seconds - used - per_fit * last if done else first
        _try(study, candidate, problem, store=store, seconds=allowed, cost=cost)
    if at_best is None:
        why = next((t.user_attrs[_FAILED] for t in done if _FAILED in t.user_attrs), "no value")
        raise CandidateError(f"{candidate.name}: {why}")
    params = options_of(at_best.params)
    folds = store.best(candidate, at_best.number)
    if folds is None:  # the file is gone
        folds = tuple(_evaluated(candidate, params, problem, per_fit * plan.tuned, cost))
    return Tuned(params, folds, len(done), used, per_fit, _curve(done))


def _evaluated(
    candidate: Candidate, options: Params, problem: Problem, seconds: float, cost: Cost
) -> Iterator[FoldScores]:
    """Fit on one tuned split after another, each within its part of the time."""
    ends, plan = time.perf_counter() + seconds, problem.plan
    for step, split in enumerate(plan.splits[: plan.tuned]):
        part = (ends - time.perf_counter()) / (plan.tuned - step)
        limit = part - cost.after(*map(len, split))
        yield evaluate_split(candidate, options, problem, split, problem.seeds[:1], seconds=limit)


def _study(candidate: Candidate, store: TrialStore) -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        storage=store.storage,
        study_name=store.name(candidate),
        direction="maximize",
        load_if_exists=True,
        pruner=optuna.pruners.MedianPruner(n_startup_trials=_BEFORE_PRUNING),
    )
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        study.tell(trial.number, state=TrialState.FAIL)  # of a process that was stopped
    return study


def _known(candidate: Candidate, store: TrialStore) -> list[dict[str, float]]:
    """Return what is tried first: the best of log-loss with the same kind of model; the defaults.

    A fit on a metric may take ten times as long, and in the same time a few trials would be set
    against thirty: the two would differ in their tuning rather than in what they are trained on.
    """
    own = defaults(candidate)
    plain = store.name(Candidate(candidate.model, LOG_LOSS))
    if candidate.is_log_loss or plain not in optuna.get_all_study_names(store.storage):
        return [own]
    at_best = _best(optuna.load_study(study_name=plain, storage=store.storage))
    found = own if at_best is None else own | at_best.params
    return [own] if found == own else [found, own]


def _try(
    study: optuna.Study,
    candidate: Candidate,
    problem: Problem,
    *,
    store: TrialStore,
    seconds: float,
    cost: Cost,
) -> None:
    """Run one more trial; its scores are kept if it is the best evaluated on every split."""
    plan, seed, number = problem.plan, problem.settings.seed, len(_done(study))
    # A sampler of its own for every trial: a resumed one draws the same.
    start = zlib.crc32(candidate.key.encode()) + seed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study.sampler = optuna.samplers.TPESampler(
            seed=(start + 7919 * number) % 2**32, n_startup_trials=5, multivariate=True
        )
    trial = study.ask(space_of(candidate))
    options, folds = options_of(trial.params), list[FoldScores]()
    began = time.perf_counter()
    state = TrialState.COMPLETE
    try:
        for step, each in enumerate(_evaluated(candidate, options, problem, seconds, cost)):
            folds.append(each)
            if step + 1 < plan.tuned:
                trial.report(_mean(folds), step)
                if trial.should_prune():
                    state = TrialState.PRUNED
                    break
        if not np.isfinite(_mean(folds)):
            raise ValueError(f"{problem.metric} is not defined for any validation row")
    except (ValueError, ArithmeticError) as error:
        trial.set_user_attr(_FAILED, " ".join(str(error).split()))
        state = TrialState.FAIL
    trial.set_user_attr(_SECONDS, time.perf_counter() - began)
    trial.set_user_attr(_FITS, max(1, len(folds)))
    whole, best = state == TrialState.COMPLETE, _best(study)
    if whole and (best is None or _mean(folds) > (best.value or 0.0)):
        store.keep(candidate, trial.number, folds)  # before tell: a finished trial has its scores
    study.tell(trial, _mean(folds) if whole else None, state=state)


def _mean(folds: Sequence[FoldScores]) -> float:
    return float(np.mean([each.value for each in folds]))


def _done(study: optuna.Study) -> list[FrozenTrial]:
    """Return the trials that came to an end; one that was stopped has no time."""
    found = study.get_trials(deepcopy=False, states=_DONE)
    return [trial for trial in found if _SECONDS in trial.user_attrs]


def _best(study: optuna.Study) -> FrozenTrial | None:
    whole = [trial for trial in _done(study) if trial.state == TrialState.COMPLETE]
    return max(whole, key=lambda trial: (trial.value or 0.0, -trial.number), default=None)


def _curve(done: Sequence[FrozenTrial]) -> list[list[float]]:
    """Return the seconds so far with the best value so far."""
    points, clock, best = [], 0.0, -np.inf
    for trial in done:
        clock += trial.user_attrs[_SECONDS]
        if trial.state == TrialState.COMPLETE and trial.value is not None:
            best = max(best, trial.value)
        if np.isfinite(best):
            points.append([clock, best])
    return points
