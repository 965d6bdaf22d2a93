"""A whole comparison: read, train, choose, test, write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankwise.estimators.limits import threads_for
from rankwise.report.comparison import write_report
from rankwise.tasks.compare.budget import Budget, open_budget
from rankwise.tasks.compare.candidates import Candidate, candidates
from rankwise.tasks.compare.config import open_run, start_run
from rankwise.tasks.compare.fit import Finished, ensemble
from rankwise.tasks.compare.importance import importance_of
from rankwise.tasks.compare.problem import Problem, plans_of_folds, read_problem
from rankwise.tasks.compare.remarks import notes_on, same_as_baseline, too_few, verdict_of
from rankwise.tasks.compare.results import results_of, write_results
from rankwise.tasks.compare.selection import CrossValidated, Evaluation, HeldOut, choose
from rankwise.tasks.compare.settings import Settings
from rankwise.tasks.compare.training import Trainer
from rankwise.tasks.compare.trials import Place, open_storage
from rankwise.tasks.compare.tuning import Progress

STUDY = "study.db"
TRIALS = "trials"
CANDIDATES = "candidates"


@dataclass(frozen=True)
class Event:
    """What is being done: a candidate's number of how many, and how far it is."""

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
    on_read: Callable[[Problem], None] = lambda problem: None,
    on_event: Callable[[Event], None] = lambda event: None,
    on_note: Callable[[str], None] = lambda words: None,
) -> Compared:
    """Compare into the folder ``out``; one that holds a run already is only touched to resume it.

    A candidate is written when it is done, and every trial of those that are not: after a stop
    nothing of either is repeated. ``on_read`` is called once, when the table is read; ``on_note``
    gets what the budget does not allow, before the training begins.
    """
    chosen = candidates(settings.metric, settings.candidates)
    problem = read_problem(settings)
    with open_run(out, resume=resume) as folder:
        start_run(out, problem, resume=resume)
        on_read(problem)
        compared = _compared(problem, chosen, out, on_event, on_note)
        folder.finish()
        return compared


def _compared(
    problem: Problem,
    chosen: Sequence[Candidate],
    out: Path,
    on_event: Callable[[Event], None],
    on_note: Callable[[str], None],
) -> Compared:
    settings = problem.settings
    with threads_for(len(problem.table) * len(problem.table.names)):
        rounds = _rounds(problem)
        told = _Told(on_event, rounds=len(rounds))
        budget = _budget(out, chosen, problem, len(rounds), told)
        for words in (*budget.announcements, *budget.left_out.values()):
            on_note(words)
        trained, failed = _trained(out, chosen, rounds, budget, told)
        told.testing()
        ordered, evaluation = _evaluated(chosen, trained, settings)
        left_out = {**budget.left_out, **failed}
        if not any(each.candidate.is_log_loss for each in ordered):
            raise RuntimeError(f"no log-loss model could be fitted: {'; '.join(failed.values())}")
        chosen_in = trained[0][0]
        choice = choose(ordered, settings.metric)
        results = results_of(ordered, choice, chosen_in, left_out, evaluation)
        results["decided"] = too_few(evaluation, problem) is None
        results["verdict"] = verdict_of(results, evaluation, problem)
        results["importance"] = importance_of(out, choice.recommended, problem, evaluation)
        results["remarks"] = notes_on(ordered, chosen_in, failed, budget)
        if isinstance(evaluation, CrossValidated):
            results["remarks"].insert(0, _of_the_choice(evaluation, settings.metric))
        if (same := same_as_baseline(results, evaluation)) is not None:
            results["remarks"].insert(0, same)
        write_results(out, results, ordered, chosen_in, evaluation)
    return Compared(out, results, write_report(out))


def _of_the_choice(evaluation: CrossValidated, metric: str) -> str:
    return (
        f"chosen anew within every fold, the recommended candidate has {metric} "
        f"{evaluation.of_the_choice():.4f}: the best of several looks a little better than it is"
    )


def _rounds(problem: Problem) -> list[tuple[str, Problem]]:
    """How often all candidates are trained: once, or once on all rows and then once a fold."""
    settings = problem.settings
    if not settings.repeats:
        return [("", problem)]
    plans = plans_of_folds(problem.table, settings.seed, settings.repeats)
    folds = [(f"fold-{n + 1}-", replace(problem, plan=plan)) for n, plan in enumerate(plans)]
    return [("", problem), *folds]  # first what is kept


class _Told:
    """Reports how far a run is."""

    def __init__(self, on_event: Callable[[Event], None], rounds: int) -> None:
        self.on_event, self.rounds, self.round = on_event, rounds, 0
        self.names: list[str] = []

    def candidate(self, candidate: Candidate, progress: Progress) -> None:
        place = self.names.index(candidate.name) + self.round * len(self.names)
        self.on_event(Event(candidate.name, place, self.rounds * len(self.names), progress))

    def estimating(self, candidate: Candidate) -> None:
        name = f"estimating the cost of {candidate.name}"
        self.on_event(Event(name, 0, self.rounds * len(self.names), Progress(0, None, 0.0)))

    def testing(self) -> None:
        total = self.rounds * len(self.names)
        self.on_event(Event("testing", total, total, Progress(0, None, 0.0)))


def _budget(
    out: Path, chosen: Sequence[Candidate], problem: Problem, rounds: int, told: _Told
) -> Budget:
    alone = [each for each in chosen if not each.parts]
    told.names = [each.name for each in alone]
    return open_budget(out, problem, alone, rounds=rounds, on_candidate=told.estimating)


def _trained(
    out: Path,
    chosen: Sequence[Candidate],
    rounds: Sequence[tuple[str, Problem]],
    budget: Budget,
    told: _Told,
) -> tuple[list[tuple[Problem, dict[str, Finished]]], dict[str, str]]:
    """The candidates of every round that are done, by name, and why others could not be."""
    alone = [each for each in chosen if not each.parts and each.name not in budget.left_out]
    told.names = [each.name for each in alone]
    done: list[tuple[Problem, dict[str, Finished]]] = []
    failed: dict[str, str] = {}
    with open_storage(out / STUDY) as storage:
        for place, (prefix, problem) in enumerate(rounds):
            told.round = place
            if budget.one_part:
                problem = replace(problem, plan=problem.plan.one_part())  # noqa: PLW2901
            trials = Place(storage, out / TRIALS, prefix)
            trainer = Trainer(out / CANDIDATES, budget, trials, told.candidate)
            finished, not_done = trainer.train(alone, problem, len(rounds) - place)
            failed |= not_done
            done.append((problem, finished))
    return done, failed


def _evaluated(
    chosen: Sequence[Candidate],
    trained: Sequence[tuple[Problem, dict[str, Finished]]],
    settings: Settings,
) -> tuple[list[Finished], Evaluation]:
    """Those done in every round, with the ensembles of them, and what they are worth."""
    names = set.intersection(*(set(finished) for _, finished in trained))
    rounds = []
    for problem, finished in trained:
        for candidate in chosen:
            if candidate.parts and names.issuperset(candidate.parts):
                parts = [finished[part] for part in candidate.parts]
                finished[candidate.name] = ensemble(candidate, parts, problem)
        known = [each for each in chosen if names.issuperset(each.parts or (each.name,))]
        rounds.append((problem, [finished[each.name] for each in known]))
    (first, ordered), *folds = rounds
    if not folds:
        return ordered, HeldOut(ordered, first)
    return ordered, CrossValidated(folds, settings.repeats)
