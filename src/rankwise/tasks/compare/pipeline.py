"""A whole comparison: read, train, choose, test, write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rankwise.estimators.limits import threads_for
from rankwise.report.comparison import write_report
from rankwise.tasks.compare import remarks
from rankwise.tasks.compare.budget import Budget, open_budget
from rankwise.tasks.compare.candidates import Candidate, candidates
from rankwise.tasks.compare.fit import Fitted, ensemble
from rankwise.tasks.compare.importance import importance_of
from rankwise.tasks.compare.problem import Problem, plans_of_folds, read_problem
from rankwise.tasks.compare.results import Results, results_of, write_results
from rankwise.tasks.compare.run_files import open_run, start_run
from rankwise.tasks.compare.selection import Evaluation, choose
from rankwise.tasks.compare.settings import Settings
from rankwise.tasks.compare.training import train
from rankwise.tasks.compare.trials import TrialStore, open_storage
from rankwise.tasks.compare.tuning import NOT_BEGUN, Progress

STUDY = "study.db"
TRIALS = "trials"
CANDIDATES = "candidates"


@dataclass(frozen=True)
class Event:
    """The progress of a run: the step it is at, by name and number."""

    name: str
    number: int
    total: int
    progress: Progress = NOT_BEGUN


@dataclass(frozen=True)
class CompareResult:
    """The results of a comparison, and where they are written."""

    folder: Path
    results: Results
    report: Path


def run(
    settings: Settings,
    out: Path,
    *,
    resume: bool = False,
    on_read: Callable[[Problem], None] = lambda problem: None,
    on_event: Callable[[Event], None] = lambda event: None,
    on_warning: Callable[[str], None] = lambda words: None,
) -> CompareResult:
    """Compare into the folder ``out``; one that holds a run already is only touched to resume it.

    A candidate is written when it is done, and every trial of those that are not: after a stop
    nothing of either is repeated. ``on_read`` is called once, when the table is read;
    ``on_warning`` gets what the budget does not allow, before the training begins.
    """
    chosen = candidates(settings.metric, settings.candidates)
    problem = read_problem(settings)
    with open_run(out, resume=resume) as folder:
        start_run(out, problem, resume=resume)
        on_read(problem)
        compared = _compare(problem, chosen, out, on_event, on_warning)
        folder.finish()
        return compared


def _compare(
    problem: Problem,
    chosen: Sequence[Candidate],
    out: Path,
    on_event: Callable[[Event], None],
    on_warning: Callable[[str], None],
) -> CompareResult:
    settings = problem.settings
    alone = [each for each in chosen if not each.parts]
    with threads_for(len(problem.table) * len(problem.table.names)):
        rounds = _rounds(problem)
        total = len(rounds) * len(alone)
        budget = open_budget(
            out,
            problem,
            alone,
            rounds=len(rounds),
            on_candidate=lambda each: on_event(
                Event(f"estimating the cost of {each.name}", 0, total)
            ),
        )
        for words in (*budget.announced, *budget.left_out.values()):
            on_warning(words)
        alone = [each for each in alone if each.name not in budget.left_out]
        trained, failed = _train(out, alone, rounds, budget, on_event)
        on_event(Event("testing", len(rounds) * len(alone), len(rounds) * len(alone)))
        fitted, evaluation = _evaluate(chosen, trained, settings.repeats)
        if not any(each.candidate.is_log_loss for each in fitted):
            raise RuntimeError(f"no log-loss model could be fitted: {'; '.join(failed.values())}")
        chosen_in = trained[0][0]
        choice = choose(fitted, settings.metric)
        left_out = {**budget.left_out, **failed}
        results = results_of(fitted, choice, chosen_in, left_out, evaluation)
        results["decided"] = remarks.undecided(evaluation, problem) is None
        results["verdict"] = remarks.verdict_of(results, evaluation, problem)
        results["importance"] = importance_of(out, choice.recommended, problem, evaluation)
        results["remarks"] = [
            *remarks.result_remarks(results, evaluation),
            *remarks.training_remarks(fitted, chosen_in, failed, budget),
        ]
        write_results(out, results, fitted, chosen_in, evaluation)
    return CompareResult(out, results, write_report(out))


def _rounds(problem: Problem) -> list[tuple[str, Problem]]:
    """Return what all candidates are trained on: all rows, and with repeats every fold."""
    settings = problem.settings
    if not settings.repeats:
        return [("", problem)]
    plans = plans_of_folds(problem.table, settings.seed, settings.repeats)
    folds = [(f"fold-{n + 1}-", replace(problem, plan=plan)) for n, plan in enumerate(plans)]
    return [("", problem), *folds]  # first what is kept


def _train(
    out: Path,
    chosen: Sequence[Candidate],
    rounds: Sequence[tuple[str, Problem]],
    budget: Budget,
    on_event: Callable[[Event], None],
) -> tuple[list[tuple[Problem, dict[str, Fitted]]], dict[str, str]]:
    """Return the candidates of every round that are done, by name, and why others failed."""
    done: list[tuple[Problem, dict[str, Fitted]]] = []
    failed: dict[str, str] = {}

    def report(candidate: Candidate, progress: Progress) -> None:
        place = len(done) * len(chosen) + chosen.index(candidate)
        on_event(Event(candidate.name, place, len(rounds) * len(chosen), progress))

    with open_storage(out / STUDY) as storage:
        for number, (prefix, problem) in enumerate(rounds):
            if budget.one_part:
                problem = replace(problem, plan=problem.plan.single_split())  # noqa: PLW2901
            store = TrialStore(storage, out / TRIALS, prefix)
            fitted, not_done = train(
                chosen,
                problem,
                budget,
                store,
                folder=out / CANDIDATES,
                rounds_left=len(rounds) - number,
                on_progress=report,
            )
            failed |= not_done
            done.append((problem, fitted))
    return done, failed


def _evaluate(
    chosen: Sequence[Candidate],
    trained: Sequence[tuple[Problem, dict[str, Fitted]]],
    repeats: int,
) -> tuple[list[Fitted], Evaluation]:
    """Return those done in every round, with the ensembles of them, and their evaluation."""
    names = set.intersection(*(set(fitted) for _, fitted in trained))
    known = [each for each in chosen if names.issuperset(each.parts or (each.name,))]
    rounds = []
    for problem, fitted in trained:
        for each in known:
            if each.parts:
                parts = [fitted[part] for part in each.parts]
                fitted[each.name] = ensemble(each, parts, problem)
        rounds.append((problem, [fitted[each.name] for each in known]))
    return rounds[0][1], Evaluation(rounds[1:] or rounds, repeats)
