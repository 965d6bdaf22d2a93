"""A whole comparison: read, train, choose, test, write."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optuna.storages import RDBStorage

from rankwise.estimators.threads import threads_for
from rankwise.report.comparison import write_report
from rankwise.tasks.compare.choosing import choose, on_common_splits
from rankwise.tasks.compare.config import start_run
from rankwise.tasks.compare.contenders import Contender, contenders
from rankwise.tasks.compare.contest import Contest, contest_of
from rankwise.tasks.compare.finished import Finished, ensemble, load_finished, save_finished
from rankwise.tasks.compare.fitting import fit_members, judge, scored
from rankwise.tasks.compare.model import Model
from rankwise.tasks.compare.notes import notes_on
from rankwise.tasks.compare.results import results_of, write_results
from rankwise.tasks.compare.settings import Settings
from rankwise.tasks.compare.training_rows import TrainingRows
from rankwise.tasks.compare.tuning import ContenderError, Progress, Tuned, open_storage, tune

__all__ = ["Compared", "Event", "run"]

STUDY = "study.db"
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
) -> Compared:
    """Compare into the folder ``out``; one that holds a run already is only touched to resume it.

    A contender is written when it is done, and every trial of those that are not: after a stop
    nothing of either is repeated. ``on_read`` is called once, before the training.
    """
    chosen = contenders(settings.metric, settings.contenders)
    contest = contest_of(settings)
    start_run(out, contest, resume=resume)
    on_read(contest)
    work = len(contest.table) * len(contest.table.names)
    with open_storage(out / STUDY) as storage, threads_for(work):
        trained = [each for each in chosen if not each.parts]
        finished, left_out = _trained(trained, contest, out / CONTENDERS, storage, on_event)
    finished = dict(zip(finished, on_common_splits(list(finished.values())), strict=True))
    for contender in chosen:
        if contender.parts and all(part in finished for part in contender.parts):
            parts = [finished[part] for part in contender.parts]
            finished[contender.name] = ensemble(contender, parts, contest)
    ordered = [finished[each.name] for each in chosen if each.name in finished]
    if not any(each.contender.is_log_loss for each in ordered):
        raise RuntimeError(f"no log-loss model could be fitted: {'; '.join(left_out.values())}")
    results = results_of(ordered, choose(ordered, settings.metric), contest, left_out)
    results["notes"] = notes_on(ordered, contest, left_out)
    write_results(out, results, ordered, contest)
    return Compared(out, results, write_report(out))


def _trained(
    trained: list[Contender],
    contest: Contest,
    out: Path,
    storage: RDBStorage,
    on_event: Callable[[Event], None],
) -> tuple[dict[str, Finished], dict[str, str]]:
    """Contenders by name that are done, now or in an earlier run, and why others could not be."""
    finished: dict[str, Finished] = {}
    left_out: dict[str, str] = {}
    share = contest.settings.budget / len(trained)
    for number, contender in enumerate(trained):

        def tell(progress: Progress, name: str = contender.name, number: int = number) -> None:
            on_event(Event(name, number, len(trained), progress))

        folder = out / contender.key
        done = load_finished(folder, contender)
        if done is None:
            try:
                tuned = tune(contender, contest, storage=storage, seconds=share, on_trial=tell)
            except ContenderError as error:
                left_out[contender.name] = str(error)
                continue
            done = _finish(contender, contest, tuned, share)
            save_finished(folder, done)
        finished[contender.name] = done
    on_event(Event("testing", len(trained), len(trained), Progress(0, None, 0.0)))
    return finished, left_out


def _finish(contender: Contender, contest: Contest, tuned: Tuned, seconds: float) -> Finished:
    """With its options chosen: judge on more splits if there is time, fit on all but the test."""
    began = time.perf_counter()
    plan, seeds, params = contest.plan, contest.seeds, tuned.params
    judged = list(tuned.judged or ()) if len(seeds) == 1 else []  # tuned with the first seed alone
    wanted = len(plan.splits) if tuned.seconds < seconds else plan.tuned
    rest = plan.splits[len(judged) : wanted]
    judged += [judge(contender, params, contest, split, seeds) for split in rest]
    members = fit_members(contender, params, contest, plan.parts.development, seeds)
    about = {
        "contender": contender.name,
        "metric": contest.metric,
        "target": contest.settings.target,
        "positive": contest.table.positive,
    }
    training_rows = TrainingRows.of(contest.table, plan.parts)
    model = Model(members, contest.table.reading, about, training_rows)
    test, ranked = scored(members, contest, plan.parts.test)
    return Finished(
        contender=contender,
        params=params,
        trials=tuned.trials,
        seconds=tuned.seconds + time.perf_counter() - began,
        curve=tuned.curve,
        judged=tuple(judged),
        test=test,
        test_ranked=ranked,
        probability=model.probabilities(contest.table.of(plan.parts.test)),
        model=model,
    )
