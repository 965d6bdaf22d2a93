"""The options of one contender, tuned by optuna within its share of the time."""

from __future__ import annotations

import sqlite3
import time
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial, Trial, TrialState

from rankwise.data import DataError
from rankwise.tasks.compare.contenders import LOG_LOSS, Contender
from rankwise.tasks.compare.contest import Contest
from rankwise.tasks.compare.fitting import Judged, judge
from rankwise.tasks.compare.spaces import defaults, options_of, suggested

__all__ = ["ContenderError", "Progress", "Tuned", "open_storage", "tune"]

_DONE = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)
_SECONDS, _FAILED = "seconds", "failed"
_BEFORE_PRUNING = 4  # trials that are always judged on every fold


class ContenderError(RuntimeError):
    """A contender that could not be fitted with any options."""


class _Connection(sqlite3.Connection):
    """Without a wait for the disk at every write: a process that is stopped loses nothing by it."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.execute("PRAGMA synchronous = OFF")


@contextmanager
def open_storage(path: Path) -> Iterator[RDBStorage]:
    """The SQLite file that trials are kept in."""
    try:
        storage = RDBStorage(
            f"sqlite:///{path}", engine_kwargs={"connect_args": {"factory": _Connection}}
        )
    except Exception as error:  # of the database, its driver or optuna, whatever it stumbled over
        if not path.is_file():
            raise
        reason = str(error).partition("\n")[0]
        raise DataError(f"{path}: holds no trials of `rankwise compare`: {reason}") from None
    try:
        yield storage
    finally:
        storage.engine.dispose()


@dataclass(frozen=True)
class Progress:
    """How far the tuning of a contender is."""

    trials: int
    best: float | None
    share: float  # of its time, or of its trials


@dataclass(frozen=True, eq=False)
class Tuned:
    """The best options, what they were worth on the tuned splits, and what it took."""

    params: dict[str, Any]
    judged: tuple[Judged, ...] | None  # None where an earlier process had judged them
    trials: int
    seconds: float
    curve: list[list[float]]


def tune(
    contender: Contender,
    contest: Contest,
    *,
    storage: RDBStorage,
    seconds: float,
    on_trial: Callable[[Progress], None] = lambda progress: None,
) -> Tuned:
    """Try options until the time or the number of trials is used up; :func:`_known` come first.

    Every finished trial is in ``storage`` (:func:`open_storage`) and is not repeated: a later call
    goes on where an earlier one was stopped, and draws the options that it would have drawn. Time
    is left for what follows the tuning, the other splits and the last fit.
    """
    plan, trials = contest.plan, contest.settings.trials
    study, known = _study(contender, storage), _known(contender, storage)
    fits_after = len(plan.splits) - plan.tuned + 1
    best: tuple[Judged, ...] | None = None
    while True:
        done = _done(study)
        used = sum(_seconds_of(trial) for trial in done)
        at_best = _best(study)
        share = max(used / seconds, len(done) / trials)
        on_trial(Progress(len(done), at_best.value if at_best else None, min(1.0, share)))
        per_fit = used / max(1, len(done)) / plan.tuned
        enough = used + per_fit * (plan.tuned + fits_after) > seconds
        if done and (enough or len(done) >= trials):
            break
        if len(done) < len(known) and not study.get_trials(states=(TrialState.WAITING,)):
            study.enqueue_trial(known[len(done)])
        judged = _try(study, len(done), contender, contest)
        now = _best(study)
        if now is not None and (at_best is None or now.number != at_best.number):
            best = judged
    if at_best is None:
        why = next((t.user_attrs[_FAILED] for t in done if _FAILED in t.user_attrs), "no value")
        raise ContenderError(f"{contender.name}: {why}")
    return Tuned(options_of(at_best.params), best, len(done), used, _curve(done))


def _study(contender: Contender, storage: RDBStorage) -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        storage=storage,
        study_name=contender.key,
        direction="maximize",
        load_if_exists=True,
        pruner=optuna.pruners.MedianPruner(n_startup_trials=_BEFORE_PRUNING),
    )
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        study.tell(trial.number, state=TrialState.FAIL)  # of a process that was stopped
    return study


def _known(contender: Contender, storage: RDBStorage) -> list[dict[str, Any]]:
    """What is tried first: what was best for log-loss with the same kind of model; the defaults.

    A fit on a metric may take ten times as long, and in the same time a few trials would be set
    against thirty: the two would differ in their tuning rather than in what they are trained on.
    """
    own = defaults(contender)
    plain = Contender(contender.model, LOG_LOSS)
    if contender.is_log_loss or plain.key not in optuna.get_all_study_names(storage):
        return [own]
    at_best = _best(optuna.load_study(study_name=plain.key, storage=storage))
    found = own if at_best is None else own | at_best.params
    return [own] if found == own else [found, own]


def _try(
    study: optuna.Study, number: int, contender: Contender, contest: Contest
) -> tuple[Judged, ...] | None:
    """One more trial; its scores if it was judged on every split."""
    plan, seed = contest.plan, contest.settings.seed
    # A sampler of its own for every trial: one that goes on after a stop draws the same.
    start = zlib.crc32(contender.key.encode()) + seed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study.sampler = optuna.samplers.TPESampler(
            seed=(start + 7919 * number) % 2**32, n_startup_trials=5, multivariate=True
        )
    trial = study.ask()
    options = options_of(suggested(contender, trial))
    judged: list[Judged] = []
    began = time.perf_counter()
    state = TrialState.COMPLETE
    try:
        for step, split in enumerate(plan.splits[: plan.tuned]):
            judged.append(judge(contender, options, contest, split, contest.seeds[:1]))
            if step + 1 < plan.tuned:
                trial.report(_mean(judged), step)
                if trial.should_prune():
                    state = TrialState.PRUNED
                    break
        if not np.isfinite(_mean(judged)):
            raise ValueError(f"{contest.metric} is not defined for any row it is judged by")
    except (ValueError, ArithmeticError) as error:
        trial.set_user_attr(_FAILED, " ".join(str(error).split()))
        state = TrialState.FAIL
    trial.set_user_attr(_SECONDS, time.perf_counter() - began)
    whole = state == TrialState.COMPLETE
    study.tell(trial, _mean(judged) if whole else None, state=state)
    return tuple(judged) if whole else None


def _mean(judged: Sequence[Judged]) -> float:
    return float(np.mean([each.value for each in judged]))


def _done(study: optuna.Study) -> list[FrozenTrial]:
    """Trials that came to an end; one that was stopped has no time."""
    found = study.get_trials(deepcopy=False, states=_DONE)
    return [trial for trial in found if _SECONDS in trial.user_attrs]


def _best(study: optuna.Study) -> FrozenTrial | None:
    whole = [trial for trial in _done(study) if trial.state == TrialState.COMPLETE]
    return max(whole, key=lambda trial: (trial.value or 0.0, -trial.number), default=None)


def _seconds_of(trial: Trial | FrozenTrial) -> float:
    return float(trial.user_attrs[_SECONDS])


def _curve(done: Sequence[FrozenTrial]) -> list[list[float]]:
    """Seconds so far against the best value so far."""
    points, clock, best = [], 0.0, -np.inf
    for trial in done:
        clock += _seconds_of(trial)
        if trial.state == TrialState.COMPLETE and trial.value is not None:
            best = max(best, trial.value)
        if np.isfinite(best):
            points.append([clock, best])
    return points
