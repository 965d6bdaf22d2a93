"""A whole comparison: read, train, choose, test, write."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from rankwise.estimators.limits import threads_for
from rankwise.report.comparison import write_report
from rankwise.tasks.compare import remarks
from rankwise.tasks.compare.budget import Budget, open_budget
from rankwise.tasks.compare.candidates import Candidate, candidates
from rankwise.tasks.compare.fit import Fitted, ensemble, load_candidate, save_candidate
from rankwise.tasks.compare.importance import importance_of
from rankwise.tasks.compare.problem import Problem, plans_of_folds, read_problem
from rankwise.tasks.compare.results import Outcome
from rankwise.tasks.compare.run_files import open_run
from rankwise.tasks.compare.search import CandidateError, Event, Search
from rankwise.tasks.compare.selection import Evaluation, choose, on_common_splits
from rankwise.tasks.compare.settings import Settings
from rankwise.tasks.compare.trials import TrialStore, open_storage

STUDY = "study.db"
TRIALS = "trials"
CANDIDATES = "candidates"


@dataclass(frozen=True)
class CompareResult:
    """The results of a comparison, and where they are written."""

    folder: Path
    results: dict[str, object]  # the content of results.json
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
    with (
        open_run(out, problem, resume=resume) as folder,
        threads_for(len(problem.table) * len(problem.table.names)),
    ):
        on_read(problem)
        plans = plans_of_folds(problem.table, settings.seed, settings.repeats)
        folds = [(f"fold-{n + 1}-", replace(problem, plan=plan)) for n, plan in enumerate(plans)]
        rounds = [("", problem), *folds]  # first what is kept
        alone = [each for each in chosen if not each.parts]
        pilot = Event("estimating the cost of", 0, len(rounds) * len(alone))
        budget = open_budget(
            out,
            problem,
            alone,
            rounds=len(rounds),
            on_candidate=lambda each: on_event(replace(pilot, name=f"{pilot.name} {each.name}")),
        )
        for words in (*budget.announced, *budget.left_out.values()):
            on_warning(words)
        if budget.one_part:
            rounds = [(prefix, replace(at, plan=at.plan.single_split())) for prefix, at in rounds]
        alone = [each for each in alone if each.name not in budget.left_out]
        trained, failed = _train(out, alone, rounds, budget, on_event)
        on_event(Event("testing", len(rounds) * len(alone), len(rounds) * len(alone)))
        fitted, evaluation = _evaluate(chosen, trained, settings.repeats)
        if not any(each.candidate.is_log_loss for each in fitted):
            raise RuntimeError(f"no log-loss model could be fitted: {'; '.join(failed.values())}")
        outcome = Outcome(trained[0][0], fitted, choose(fitted, settings.metric), evaluation)
        results = {
            **outcome.results({**budget.left_out, **failed}),
            "decided": remarks.undecided(evaluation) is None,
            "verdict": remarks.verdict_of(outcome),
            "importance": importance_of(out, outcome.choice.recommended, problem, evaluation),
            "remarks": [
                *remarks.result_remarks(outcome),
                *remarks.training_remarks(outcome, failed, budget),
            ],
        }
        outcome.write(out, results)
        report = write_report(out)
        folder.finish()
        return CompareResult(out, results, report)


def _train(
    out: Path,
    chosen: Sequence[Candidate],
    rounds: Sequence[tuple[str, Problem]],
    budget: Budget,
    on_event: Callable[[Event], None],
) -> tuple[list[tuple[Problem, dict[str, Fitted]]], dict[str, str]]:
    """Return the candidates of every round by name, done now or before, and why others failed."""
    fitted: dict[str, dict[str, Fitted]] = {prefix: {} for prefix, _ in rounds}
    failed: dict[str, str] = {}
    steps = list(product(rounds, chosen))
    with open_storage(out / STUDY) as storage:
        for number, ((prefix, problem), candidate) in enumerate(steps):
            store = TrialStore(storage, out / TRIALS, prefix)
            name, at = store.name(candidate), Event(candidate.name, number, len(steps))
            done = load_candidate(out / CANDIDATES / name, candidate)
            if done is None:
                share = budget.share(name, problem, [each for _, each in steps[number:]])
                cost = budget.costs[candidate.key]
                search = Search(candidate, problem, store, share, cost)
                began, used = time.perf_counter(), 0.0
                try:
                    tuned = search.tune(at, on_event)
                    used = tuned.seconds
                    done = search.finish(tuned)
                except CandidateError as error:
                    failed[candidate.name] = str(error)
                    continue
                finally:
                    budget.spend(name, max(used, time.perf_counter() - began))
                save_candidate(out / CANDIDATES / name, done)
            fitted[prefix][candidate.name] = done
    return [(problem, on_common_splits(fitted[prefix])) for prefix, problem in rounds], failed


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
