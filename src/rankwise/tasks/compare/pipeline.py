"""A whole comparison: read, train, choose, test, write."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

from rankwise.data import DataError
from rankwise.estimators.limits import threads_for, time_limit
from rankwise.report.comparison.report import write_report
from rankwise.tasks.compare import fit
from rankwise.tasks.compare.budget import Budget, open_budget
from rankwise.tasks.compare.candidates import Candidate, candidates
from rankwise.tasks.compare.fit import Fitted
from rankwise.tasks.compare.importance import importance_of
from rankwise.tasks.compare.model import Model
from rankwise.tasks.compare.problem import Problem, plans_of_folds, read_problem
from rankwise.tasks.compare.results import Outcome
from rankwise.tasks.compare.run_files import open_run
from rankwise.tasks.compare.search import CandidateError, Event, Search, Tuned
from rankwise.tasks.compare.selection import Evaluation, choose, on_common_splits
from rankwise.tasks.compare.settings import Settings
from rankwise.tasks.compare.storage import STUDY, open_storage
from rankwise.tasks.compare.training_rows import TrainingRows
from rankwise.tasks.compare.workers import Workers, open_workers
from rankwise.training import world_size

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
    ray: str | None = None,
    on_read: Callable[[Problem], None] = lambda problem: None,
    on_event: Callable[[Event], None] = lambda event: None,
    on_warning: Callable[[str], None] = lambda words: None,
) -> CompareResult | None:
    """Compare into the folder ``out``; one that holds a run already is only touched to resume it.

    A candidate is written when it is done, and every trial of those that are not: after a stop
    nothing of either is repeated. ``on_read`` is called once, when the table is read;
    ``on_warning`` gets what the budget does not allow, before the training begins. The processes of
    torchrun, or the workers of a cluster (``ray``), each evaluate a trial at a time; in all
    processes but the first the result is None.
    """
    chosen = candidates(settings.metric, settings.candidates)
    if settings.out_of_core and (ray is not None or world_size() > 1):
        raise DataError(
            "--out-of-core trains in one process, whose memory and disk it keeps to; start it "
            "without torchrun and --ray"
        )
    problem = read_problem(settings)
    with open_workers(problem, out, ray, resume=resume) as workers:
        if workers is False:
            return None
        return _compare(problem, chosen, out, workers, resume, on_read, on_event, on_warning)


def _compare(  # noqa: PLR0917  (the arguments of run, and what it has made)
    problem: Problem,
    chosen: Sequence[Candidate],
    out: Path,
    workers: Workers | None,
    resume: bool,
    on_read: Callable[[Problem], None],
    on_event: Callable[[Event], None],
    on_warning: Callable[[str], None],
) -> CompareResult:
    settings = problem.settings
    with (
        open_run(out, problem, resume=resume) as folder,
        threads_for(len(problem.table) * len(problem.table.names)),
    ):

        def step(event: Event) -> None:
            folder.require_there()  # else files would be written into a folder that is made anew
            on_event(event)

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
            on_candidate=lambda each: step(replace(pilot, name=f"{pilot.name} {each.name}")),
        )
        for words in (*budget.announced, *budget.left_out.values()):
            on_warning(words)
        if budget.one_part:
            rounds = [(prefix, replace(at, plan=at.plan.single_split())) for prefix, at in rounds]
        if later := [each.name for each in alone if each.key not in budget.costs]:
            on_warning(
                f"not in this run, which an earlier rankwise began: {'; '.join(later)}; "
                "pass another --out to train them"
            )
        alone = [e for e in alone if e.key in budget.costs and e.name not in budget.left_out]
        trained, failed = _train(out, alone, rounds, budget, step, workers=workers)
        step(Event("testing", len(rounds) * len(alone), len(rounds) * len(alone)))
        fitted, evaluation = _evaluate(chosen, trained, settings.repeats)
        if not any(each.candidate.is_log_loss for each in fitted):
            raise RuntimeError(f"no log-loss model could be fitted: {'; '.join(failed.values())}")
        outcome = Outcome(trained[0][0], fitted, choose(fitted, settings.metric), evaluation)
        results = {
            **outcome.results({**budget.left_out, **failed}),
            "importance": importance_of(out, outcome.choice.recommended, problem, evaluation),
            "remarks": outcome.remarks(failed, budget),
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
    *,
    workers: Workers | None,
) -> tuple[list[tuple[Problem, dict[str, Fitted]]], dict[str, str]]:
    """Return the candidates of every round by name, done now or before, and why others failed."""
    fitted: dict[str, dict[str, Fitted]] = {prefix: {} for prefix, _ in rounds}
    failed: dict[str, str] = {}
    steps = list(product(rounds, chosen))
    with open_storage(out / STUDY) as storage:
        for number, ((prefix, problem), candidate) in enumerate(steps):
            name, at = f"{prefix}{candidate.key}", Event(candidate.name, number, len(steps))
            done = fit.load_candidate(out / CANDIDATES / name, candidate)
            if done is None:
                share = budget.share(name, problem, [each for _, each in steps[number:]])
                cost = budget.costs[candidate.key]
                files = (storage, out / TRIALS)
                search = Search(candidate, problem, *files, share, cost, prefix, workers)
                began, used = time.perf_counter(), 0.0
                try:
                    tuned = search.tune(at, on_event)
                    used = tuned.seconds
                    done = finish(search, tuned)
                except CandidateError as error:
                    failed[candidate.name] = str(error)
                    continue
                finally:
                    budget.spend(name, max(used, time.perf_counter() - began))
                fit.save_candidate(out / CANDIDATES / name, done)
            fitted[prefix][candidate.name] = done
    return [(problem, on_common_splits(fitted[prefix])) for prefix, problem in rounds], failed


def finish(search: Search, tuned: Tuned) -> Fitted:
    """Evaluate the best options on more splits if there is time, fit on all but the test part.

    The final fit has the time that is left, and never less than those that it was chosen by had.
    """
    began, candidate, problem = time.perf_counter(), search.candidate, search.problem
    table, plan, seeds = problem.table, problem.plan, problem.seeds
    folds = list(tuned.folds) if len(seeds) == 1 else []  # tuned with the first seed alone
    per_fit = tuned.per_fit * len(seeds)
    last = per_fit * search.fits_of_last
    ends = began + search.seconds - tuned.seconds
    further = per_fit * (len(plan.splits) - len(folds))
    wanted = len(plan.splits) if began + further + last <= ends else plan.tuned
    rest = plan.splits[len(folds) : wanted]
    for step, split in enumerate(rest):
        part = max(per_fit, (ends - last - time.perf_counter()) / (len(rest) - step))
        folds.append(search.trials.evaluate(tuned.params, split, seeds, part))
    development, test = plan.parts.development, plan.parts.test
    after = len(seeds) * search.cost.after(len(development), 2 * len(test))
    with time_limit(max(last, ends - time.perf_counter()) - after) as final:
        members = fit.fit_members(candidate, tuned.params, problem, development, seeds)
    about = {
        "candidate": candidate.name,
        "metric": problem.metric,
        "target": problem.settings.target,
        "positive": table.positive,
    }
    known = TrainingRows.of(table, plan)
    model = Model(members, table.reading, about, known, table.classes)
    scores = ranked = probability = np.zeros(0)
    if len(test):
        scores, ranked = fit.scored(members, problem, test)
        probability = model.probabilities(table.of(test))
    return Fitted(
        candidate=candidate,
        params=tuned.params,
        trials=tuned.trials,
        seconds=tuned.seconds + time.perf_counter() - began,
        curve=tuned.curve,
        folds=tuple(folds),
        test=scores,
        test_ranked=ranked,
        probability=probability,
        model=model,
        cut=final.reached or any(each.cut for each in folds),
    )


def _evaluate(
    chosen: Sequence[Candidate],
    trained: Sequence[tuple[Problem, dict[str, Fitted]]],
    repeats: int,
) -> tuple[list[Fitted], Evaluation]:
    """Return those done in every round, with the ensembles of them, and their evaluation."""
    names = set.intersection(*(set(fitted) for _, fitted in trained))
    shown = [each for each in chosen if not each.second]
    known = [each for each in shown if names.issuperset(each.parts or (each.name,))]
    rounds = []
    for problem, fitted in trained:
        for each in known:
            if each.parts:
                parts = [fitted[part] for part in each.parts]
                fitted[each.name] = fit.ensemble(each, parts, problem)
        rounds.append((problem, [fitted[each.name] for each in known]))
    return rounds[0][1], Evaluation(rounds[1:] or rounds, repeats)
