"""Search for the options of a candidate with optuna, within its share of the time."""

from __future__ import annotations

import time
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

import numpy as np
import optuna
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial, TrialState

from rankwise.estimators.limits import time_limit
from rankwise.files import read_npz, write_npz
from rankwise.tasks.compare.budget import Cost
from rankwise.tasks.compare.candidates import LOG_LOSS, Candidate, Params, options_of
from rankwise.tasks.compare.fit import FoldScores, fit_members, fold_arrays, folds_of, scored
from rankwise.tasks.compare.problem import Problem, Rows

_DONE = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)
_SECONDS, _FAILED, _FITS = "seconds", "failed", "fits"
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
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
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
        short.
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
            per_fit = used / max(1, sum(trial.user_attrs[_FITS] for trial in done))
            enough = used + per_fit * (plan.tuned + fits_after) > self.seconds
            if done and (enough or len(done) >= settings.trials):
                break
            if len(done) < len(known) and not study.get_trials(states=(TrialState.WAITING,)):
                study.enqueue_trial(known[len(done)])
            first = self.seconds * plan.tuned / (plan.tuned + last)
            self._try(study, self.seconds - used - per_fit * last if done else first)
        if best is None:
            why = next((t.user_attrs[_FAILED] for t in done if _FAILED in t.user_attrs), "no value")
            raise CandidateError(f"{self.candidate.name}: {why}")
        params, folds = options_of(best.params), self.kept(best.number)
        if folds is None:  # the file is gone
            folds = tuple(self._evaluated(params, per_fit * plan.tuned))
        return Tuned(params, folds, len(done), used, per_fit, _curve(done))

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

    def _evaluated(self, params: Params, seconds: float) -> Iterator[FoldScores]:
        """Fit on one tuned split after another, each within its part of the time."""
        ends, plan = time.perf_counter() + seconds, self.problem.plan
        for step, split in enumerate(plan.splits[: plan.tuned]):
            part = (ends - time.perf_counter()) / (plan.tuned - step)
            yield self.evaluate(params, split, self.problem.seeds[:1], part)

    def _study(self) -> optuna.Study:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(
            storage=self.storage,
            study_name=f"{self.prefix}{self.candidate.key}",
            direction="maximize",
            load_if_exists=True,
            pruner=optuna.pruners.MedianPruner(n_startup_trials=_BEFORE_PRUNING),
        )
        for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            study.tell(trial.number, state=TrialState.FAIL)  # of a process that was stopped
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

    def _try(self, study: optuna.Study, seconds: float) -> None:
        """Run one more trial; its scores are kept if it is the best evaluated on every split."""
        tuned, number = self.problem.plan.tuned, len(_done(study))
        # A sampler of its own for every trial: a resumed one draws the same.
        start = zlib.crc32(self.candidate.key.encode()) + self.problem.settings.seed
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            study.sampler = optuna.samplers.TPESampler(
                seed=(start + 7919 * number) % 2**32, n_startup_trials=5, multivariate=True
            )
        trial = study.ask(self.candidate.space())
        folds, began, state = list[FoldScores](), time.perf_counter(), TrialState.COMPLETE
        try:
            for step, each in enumerate(self._evaluated(options_of(trial.params), seconds)):
                folds.append(each)
                if step + 1 < tuned:
                    trial.report(_mean(folds), step)
                    if trial.should_prune():
                        state = TrialState.PRUNED
                        break
            if not np.isfinite(_mean(folds)):
                raise ValueError(f"{self.problem.metric} is not defined for any validation row")
        except (ValueError, ArithmeticError) as error:
            trial.set_user_attr(_FAILED, " ".join(str(error).split()))
            state = TrialState.FAIL
        trial.set_user_attr(_SECONDS, time.perf_counter() - began)
        trial.set_user_attr(_FITS, max(1, len(folds)))
        whole, best = state == TrialState.COMPLETE, _best(study)
        if whole and (best is None or _mean(folds) > (best.value or 0.0)):
            self.keep(trial.number, folds)  # before tell: a finished trial has its scores
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
    clock = accumulate(trial.user_attrs[_SECONDS] for trial in done)
    best = accumulate(
        (trial.value or 0.0 if trial.state == TrialState.COMPLETE else -np.inf for trial in done),
        max,
    )
    return [[at, value] for at, value in zip(clock, best, strict=True) if np.isfinite(value)]
