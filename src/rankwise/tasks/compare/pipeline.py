"""A whole comparison: read, train, choose, test, write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankwise.estimators.threads import threads_for
from rankwise.report.comparison import write_report
from rankwise.tasks.compare.budget import Budget, open_budget
from rankwise.tasks.compare.choosing import choose
from rankwise.tasks.compare.config import open_run, start_run
from rankwise.tasks.compare.contenders import Contender, contenders
from rankwise.tasks.compare.contest import Contest, contest_of
from rankwise.tasks.compare.evaluation import CrossValidated, Evaluation, HeldOut
from rankwise.tasks.compare.finished import Finished, ensemble
from rankwise.tasks.compare.importance import importance_of
from rankwise.tasks.compare.notes import notes_on
from rankwise.tasks.compare.plan import plans_of_folds
from rankwise.tasks.compare.results import results_of, write_results
from rankwise.tasks.compare.settings import Settings
from rankwise.tasks.compare.training import Trainer
from rankwise.tasks.compare.trials import Place, open_storage
from rankwise.tasks.compare.tuning import Progress
from rankwise.tasks.compare.verdict import same_as_baseline, too_few, verdict_of

__all__ = ["Compared", "Event", "run"]

STUDY = "study.db"
TRIALS = "trials"
CONTENDERS = "contenders"


@dataclass(frozen=True)
class Event:
    """What is being done: a contender's number of how many, and how far it is."""

    name: str
    number: int
    total: int
    progress: Progress


@dataclass(frozen=True)
class Compared:
    """What a comparison found, and where it is written."""

    folder: Path
    results: dict[str, Any]
    page: Path


def run(
    settings: Settings,
    out: Path,
    *,
    resume: bool = False,
    on_read: Callable[[Contest], None] = lambda contest: None,
    on_event: Callable[[Event], None] = lambda event: None,
    on_note: Callable[[str], None] = lambda words: None,
) -> Compared:
    """Compare into the folder ``out``; one that holds a run already is only touched to resume it.

    A contender is written when it is done, and every trial of those that are not: after a stop
    nothing of either is repeated. ``on_read`` is called once, when the table is read; ``on_note``
    gets what the budget does not allow, before the training begins.
    """
    chosen = contenders(settings.metric, settings.contenders)
    contest = contest_of(settings)
    with open_run(out, resume=resume) as folder:
        start_run(out, contest, resume=resume)
        on_read(contest)
        compared = _compared(contest, chosen, out, on_event, on_note)
        folder.finish()
        return compared


def _compared(
    contest: Contest,
    chosen: Sequence[Contender],
    out: Path,
    on_event: Callable[[Event], None],
    on_note: Callable[[str], None],
) -> Compared:
    settings = contest.settings
    with threads_for(len(contest.table) * len(contest.table.names)):
        rounds = _rounds(contest)
        told = _Told(on_event, rounds=len(rounds))
        budget = _budget(out, chosen, contest, len(rounds), told)
        for words in (*budget.announcements, *budget.left_out.values()):
            on_note(words)
        trained, failed = _trained(out, chosen, rounds, budget, told)
        told.testing()
        ordered, evaluation = _evaluated(chosen, trained, settings)
        left_out = {**budget.left_out, **failed}
        if not any(each.contender.is_log_loss for each in ordered):
            raise RuntimeError(f"no log-loss model could be fitted: {'; '.join(failed.values())}")
        chosen_in = trained[0][0]
        choice = choose(ordered, settings.metric)
        results = results_of(ordered, choice, chosen_in, left_out, evaluation)
        results["decided"] = too_few(evaluation, contest) is None
        results["verdict"] = verdict_of(results, evaluation, contest)
        results["importance"] = importance_of(out, choice.recommended, contest, evaluation)
        results["notes"] = notes_on(ordered, chosen_in, failed, budget)
        if isinstance(evaluation, CrossValidated):
            results["notes"].insert(0, _of_the_choice(evaluation, settings.metric))
        if (same := same_as_baseline(results, evaluation)) is not None:
            results["notes"].insert(0, same)
        write_results(out, results, ordered, chosen_in, evaluation)
    return Compared(out, results, write_report(out))


def _of_the_choice(evaluation: CrossValidated, metric: str) -> str:
    return (
        f"chosen anew within every fold, the recommended contender has {metric} "
        f"{evaluation.of_the_choice():.4f}: the best of several looks a little better than it is"
    )


def _rounds(contest: Contest) -> list[tuple[str, Contest]]:
    """How often all contenders are trained: once, or once on all rows and then once a fold."""
    settings = contest.settings
    if not settings.repeats:
        return [("", contest)]
    plans = plans_of_folds(contest.table, settings.seed, settings.repeats)
    folds = [(f"fold-{n + 1}-", replace(contest, plan=plan)) for n, plan in enumerate(plans)]
    return [("", contest), *folds]  # first what is kept


class _Told:
    """Reports how far a run is."""

    def __init__(self, on_event: Callable[[Event], None], rounds: int) -> None:
        self.on_event, self.rounds, self.round = on_event, rounds, 0
        self.names: list[str] = []

    def contender(self, contender: Contender, progress: Progress) -> None:
        place = self.names.index(contender.name) + self.round * len(self.names)
        self.on_event(Event(contender.name, place, self.rounds * len(self.names), progress))

    def estimating(self, contender: Contender) -> None:
        name = f"estimating the cost of {contender.name}"
        self.on_event(Event(name, 0, self.rounds * len(self.names), Progress(0, None, 0.0)))

    def testing(self) -> None:
        total = self.rounds * len(self.names)
        self.on_event(Event("testing", total, total, Progress(0, None, 0.0)))


def _budget(
    out: Path, chosen: Sequence[Contender], contest: Contest, rounds: int, told: _Told
) -> Budget:
    alone = [each for each in chosen if not each.parts]
    told.names = [each.name for each in alone]
    return open_budget(out, contest, alone, rounds=rounds, on_contender=told.estimating)


def _trained(
    out: Path,
    chosen: Sequence[Contender],
    rounds: Sequence[tuple[str, Contest]],
    budget: Budget,
    told: _Told,
) -> tuple[list[tuple[Contest, dict[str, Finished]]], dict[str, str]]:
    """The contenders of every round that are done, by name, and why others could not be."""
    alone = [each for each in chosen if not each.parts and each.name not in budget.left_out]
    told.names = [each.name for each in alone]
    done: list[tuple[Contest, dict[str, Finished]]] = []
    failed: dict[str, str] = {}
    with open_storage(out / STUDY) as storage:
        for place, (prefix, contest) in enumerate(rounds):
            told.round = place
            if budget.one_part:
                contest = replace(contest, plan=contest.plan.one_part())  # noqa: PLW2901
            trials = Place(storage, out / TRIALS, prefix)
            trainer = Trainer(out / CONTENDERS, budget, trials, told.contender)
            finished, not_done = trainer.train(alone, contest, len(rounds) - place)
            failed |= not_done
            done.append((contest, finished))
    return done, failed


def _evaluated(
    chosen: Sequence[Contender],
    trained: Sequence[tuple[Contest, dict[str, Finished]]],
    settings: Settings,
) -> tuple[list[Finished], Evaluation]:
    """Those done in every round, with the ensembles of them, and what they are worth."""
    names = set.intersection(*(set(finished) for _, finished in trained))
    rounds = []
    for contest, finished in trained:
        for contender in chosen:
            if contender.parts and names.issuperset(contender.parts):
                parts = [finished[part] for part in contender.parts]
                finished[contender.name] = ensemble(contender, parts, contest)
        known = [each for each in chosen if names.issuperset(each.parts or (each.name,))]
        rounds.append((contest, [finished[each.name] for each in known]))
    (first, ordered), *folds = rounds
    if not folds:
        return ordered, HeldOut(ordered, first)
    return ordered, CrossValidated(folds, settings.repeats)
