"""Search for the options of a candidate with optuna, within its share of the time."""

from __future__ import annotations

import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

import numpy as np
import optuna
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial, TrialState

from rankwise.files import read_npz, write_npz
from rankwise.tasks.compare.budget import Cost
from rankwise.tasks.compare.candidates import LOG_LOSS, Candidate, Params, options_of
from rankwise.tasks.compare.fit import FoldScores, fold_arrays, folds_of
from rankwise.tasks.compare.problem import Problem
from rankwise.tasks.compare.trial import TrialResult, Trials, mean_of
from rankwise.tasks.compare.trial_seals import is_done, leave_stopped, seal_trial
from rankwise.tasks.compare.workers import Workers

_DONE = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)
# Of a trial: its share of the clock, its own seconds, why it failed, how many fits it has made.
_SECONDS, _WORK, _FAILED, _FITS = "seconds", "work", "failed", "fits"
_LAST_FIT = 1.1  # factor by which the fit on all rows may take longer than its rows explain
_BEFORE_PRUNING = 4  # trials that are always evaluated on every fold


class CandidateError(RuntimeError):
    """A candidate that could not be fitted with any options."""


@dataclass(frozen=True)
class Event:
    """The progress of a run: the step it is at, by name and number, and that of a search in it."""

    name: str
    number: int
    total: int
    trials: int = 0
    best: float | None = None
    share: float = 0.0  # of the time of the search, or of its trials


@dataclass(frozen=True, eq=False)
class Tuned:
    """The best options, their scores on the tuned splits, and the time they took."""

    params: Params
    folds: tuple[FoldScores, ...]  # of the best options, on every tuned split
    trials: int
    seconds: float
    per_fit: float  # seconds of one fit
    curve: list[list[float]]


@dataclass(frozen=True)
class Search:
    """The search for the options of a candidate within a number of seconds.

    Trials are kept, so that none is repeated after a stop: options and values in the storage, the
    scores of the best one in ``folder``.
    """

    candidate: Candidate
    problem: Problem
    storage: RDBStorage
    folder: Path
    seconds: float
    cost: Cost
    prefix: str = ""  # of the names in both, where a candidate is tuned several times
    workers: Workers | None = None  # that evaluate trials at the same time; None: this process

    @property
    def _file(self) -> Path:
        return self.folder / f"{self.prefix}{self.candidate.key}.npz"

    def keep(self, number: int, folds: Sequence[FoldScores]) -> None:
        """Keep the scores of a trial, in place of those of an earlier one."""
        write_npz(self._file, {"number": number, **fold_arrays(folds)})

    def kept(self, number: int) -> tuple[FoldScores, ...] | None:
        """Return the scores of the trial of a number, if it was the last one that was kept."""
        try:
            arrays = read_npz(self._file)
            return folds_of(arrays) if int(arrays["number"]) == number else None
        except Exception:  # whatever is wrong with it, it is made anew
            return None

    @property
    def fits_of_last(self) -> float:
        """The cost of the fit on all rows but the test part, in fits of a split."""
        plan = self.problem.plan
        return _LAST_FIT * len(plan.parts.development) / len(plan.splits[0][0])

    def tune(self, at: Event, on_event: Callable[[Event], None]) -> Tuned:
        """Try options until the time or the number of trials is used up, :meth:`_known` ones first.

        Every finished trial is stored and is not repeated: a later call resumes where an earlier
        one was stopped, and draws the options that it would have drawn. Time is left for what
        follows the tuning, the other splits and the last fit; a trial that would take it is cut
        short. Several workers have one trial each at a time, none of which is pruned.
        """
        plan, settings = self.problem.plan, self.problem.settings
        study, known, seeds = self._study(), self._known(), settings.seeds
        last = seeds * self.fits_of_last + (seeds * plan.tuned if seeds > 1 else 0)
        fits_after = seeds * (len(plan.splits) - plan.tuned) + last
        while True:
            done, best = _done(study), _best(study)
            used = sum(trial.user_attrs[_SECONDS] for trial in done)
            share = max(used / self.seconds, len(done) / settings.trials)
            value = None if best is None else best.value
            on_event(replace(at, trials=len(done), best=value, share=min(1.0, share)))
            worked = sum(_work_of(trial) for trial in done)
            per_fit = worked / max(1, sum(trial.user_attrs[_FITS] for trial in done))
            enough = used + per_fit * (plan.tuned + fits_after) > self.seconds
            if done and (enough or len(done) >= settings.trials):
                break
            waiting = len(study.get_trials(deepcopy=False, states=(TrialState.WAITING,)))
            workers = 1 if self.workers is None else self.workers.count
            count = min(workers, settings.trials - len(done))
            for options in known[len(done) + waiting : len(done) + count]:
                study.enqueue_trial(options)
            first = self.seconds * plan.tuned / (plan.tuned + last)
            self._try(study, self.seconds - used - per_fit * last if done else first, count)
        if best is None:
            why = next((t.user_attrs[_FAILED] for t in done if _FAILED in t.user_attrs), "no value")
            raise CandidateError(f"{self.candidate.name}: {why}")
        params, folds = options_of(best.params), self.kept(best.number)
        if folds is None:  # the file is gone
            folds = tuple(self.trials.splits(params, per_fit * plan.tuned))
        return Tuned(params, folds, len(done), used, per_fit, _curve(done))

    @property
    def trials(self) -> Trials:
        """What the trials share, without the files of the search."""
        return Trials(self.candidate, self.problem, self.cost)

    def _study(self) -> optuna.Study:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(
            storage=self.storage,
            study_name=f"{self.prefix}{self.candidate.key}",
            direction="maximize",
            load_if_exists=True,
            pruner=optuna.pruners.MedianPruner(n_startup_trials=_BEFORE_PRUNING),
        )
        leave_stopped(study, self.storage)
        return study

    def _known(self) -> list[dict[str, float]]:
        """Return what is tried first: the best of log-loss with the same model; the defaults.

        A fit on a metric may take ten times as long, and in the same time a few trials would be
        set against thirty: the two would differ in their tuning rather than in what they are
        trained on.
        """
        own = self.candidate.defaults()
        first = Candidate(self.candidate.model, LOG_LOSS)
        plain = f"{self.prefix}{first.key}"
        if self.candidate == first or plain not in optuna.get_all_study_names(self.storage):
            return [own]
        best = _best(optuna.load_study(study_name=plain, storage=self.storage))
        found = own if best is None else own | best.params
        return [own] if found == own else [found, own]

    def _ask(self, study: optuna.Study, number: int) -> optuna.Trial:
        """Draw the options of a trial."""
        # A sampler of its own for every trial: a resumed one draws the same.
        start = zlib.crc32(self.candidate.key.encode()) + self.problem.settings.seed
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            study.sampler = optuna.samplers.TPESampler(
                seed=(start + 7919 * number) % 2**32, n_startup_trials=5, multivariate=True
            )
        return study.ask(self.candidate.space())

    def _try(self, study: optuna.Study, seconds: float, count: int) -> None:
        """Run one more trial, or one in each of ``count`` workers."""
        done = len(_done(study))
        asked = [self._ask(study, done + number) for number in range(count)]
        params, began = [options_of(each.params) for each in asked], time.perf_counter()
        if self.workers is None:
            (trial,) = asked

            def prune(folds: list[FoldScores]) -> bool:
                trial.report(mean_of(folds), len(folds) - 1)
                return trial.should_prune()

            found = [self.trials.run(params[0], seconds, prune)]
        else:
            found = self.workers.run(self.trials, params, seconds)
        clock = (time.perf_counter() - began) / count
        for trial, result in zip(asked, found, strict=True):
            self._keep_result(study, trial, result, clock)

    def _keep_result(
        self, study: optuna.Study, trial: optuna.Trial, result: TrialResult, clock: float
    ) -> None:
        """Store a trial; its scores are kept if it is the best evaluated on every split."""
        state = TrialState.PRUNED if result.pruned else TrialState.COMPLETE
        if result.failed is not None:
            trial.set_user_attr(_FAILED, result.failed)
            state = TrialState.FAIL
        trial.set_user_attr(_SECONDS, clock)
        trial.set_user_attr(_WORK, result.seconds)
        trial.set_user_attr(_FITS, max(1, len(result.folds)))
        whole, best, folds = state == TrialState.COMPLETE, _best(study), result.folds
        if whole and (best is None or mean_of(folds) > (best.value or 0.0)):
            self.keep(trial.number, folds)  # before tell: a finished trial has its scores
        value = mean_of(folds) if whole else None
        seal_trial(trial, value, state)
        study.tell(trial, value, state=state)


def _done(study: optuna.Study) -> list[FrozenTrial]:
    """Return the trials that came to an end."""
    found = study.get_trials(deepcopy=False, states=_DONE)
    return [trial for trial in found if is_done(study, trial)]


def _work_of(trial: FrozenTrial) -> float:
    """Return the seconds that a trial took in its process."""
    found: float = trial.user_attrs.get(_WORK, trial.user_attrs[_SECONDS])
    return found


def _best(study: optuna.Study) -> FrozenTrial | None:
    whole = [trial for trial in _done(study) if trial.state == TrialState.COMPLETE]
    return max(whole, key=lambda trial: (trial.value or 0.0, -trial.number), default=None)


def _curve(done: Sequence[FrozenTrial]) -> list[list[float]]:
    """Return the seconds so far with the best value so far."""
    clock = accumulate(trial.user_attrs[_SECONDS] for trial in done)
    best = accumulate(
        (trial.value or 0.0 if trial.state == TrialState.COMPLETE else -np.inf for trial in done),
        max,
    )
    return [[at, value] for at, value in zip(clock, best, strict=True) if np.isfinite(value)]
