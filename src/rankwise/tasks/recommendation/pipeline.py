"""Whole runs: train and measure, measure again, recommend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
import torch

from rankwise.data import DataError
from rankwise.data.interactions import Interactions
from rankwise.errors import UsageError
from rankwise.files import write_json
from rankwise.report.verdict import Verdict
from rankwise.tasks.recommendation.catalog import Scorer, best_items
from rankwise.tasks.recommendation.evaluation import (
    DEFAULT,
    Evaluation,
    Measure,
    evaluate,
    measure_of,
    popularity,
)
from rankwise.tasks.recommendation.model import ClosedForm
from rankwise.tasks.recommendation.models import MODELS
from rankwise.tasks.recommendation.outcome import Outcome
from rankwise.tasks.recommendation.problem import Problem, codes_of
from rankwise.tasks.recommendation.results import (
    CONFIG,
    hits_of,
    load_run,
    sentence,
    write_model,
    write_results,
)
from rankwise.tasks.recommendation.settings import Settings
from rankwise.tasks.recommendation.training import loss_of, train
from rankwise.training import CHECKPOINT, Devices, Step, open_folder

MODEL, POPULARITY, POPULAR = "model", "popularity", "popular"
SCHEMA = {
    "user": pl.String,
    "rank": pl.Int32,
    "item": pl.String,
    "score": pl.Float32,
    "source": pl.String,
}
"""The columns of recommendations; ``source`` is ``"model"`` or ``"popular"``."""


@dataclass(frozen=True)
class Finished:
    """Results of a run, and its report; None in all but the first process."""

    results: dict[str, Evaluation]
    trained: Outcome
    report: Path | None = None
    verdict: Verdict | None = None


def run(
    problem: Problem,
    settings: Settings,
    out: Path,
    *,
    metrics: Sequence[str] = DEFAULT,
    source: str = "",
    resume: bool = False,
    on_step: Callable[[Step], None] = lambda step: None,
    on_training: Callable[[str], None] = lambda words: None,
) -> Finished:
    """Train into the folder ``out``, then measure the model and popularity on the test part.

    A folder that holds a run already is only touched with ``resume``, which continues it. Under
    torchrun all processes train together, and the first one evaluates and writes.
    """
    if issubclass(MODELS[settings.model], ClosedForm) and (n := Devices().place.world_size) > 1:
        raise UsageError(
            f"model {settings.model} is fitted in one process, got {n}; start it without torchrun"
        )
    hits = hits_of(settings.metric)
    measures = [measure_of(name) for name in dict.fromkeys((*metrics, settings.metric, hits))]
    own = out if Devices().place.is_first else None
    with open_folder(own, "recommend", resume=resume) as folder:
        if folder is not None and folder.read(CHECKPOINT) is None:
            # What cannot be made leaves no folder.
            loss_of(settings.objective, problem.pairs((0,)))
            MODELS[settings.model].check(len(problem.items))
            write_json(out / CONFIG, {"data": source, "settings": settings.model_dump()})
        trained = train(
            problem, settings, folder, resume=resume, on_step=on_step, on_training=on_training
        )
        if folder is None:
            return Finished({}, trained)
        settings = trained.settings
        write_json(out / CONFIG, {"data": source, "settings": settings.model_dump()})
        write_model(out, problem, trained.network)
        results = _measured(problem, trained.network.scores(), measures, settings)
        said = replace(trained.verdict(), sentence=sentence(hits, results))
        report = write_results(out, trained, problem, results, said)
        folder.finish()
        return Finished(results, trained, report, said)


def evaluate_run(
    folder: Path, *, metrics: Sequence[str] = DEFAULT, data: Interactions | None = None
) -> dict[str, Evaluation]:
    """Measure a finished run again: its own test part, or interactions that came later.

    Users and items of later interactions must be known; all that the run had is then seen.
    """
    measures = [measure_of(name) for name in metrics]
    settings, problem, network = load_run(folder)
    if data is not None:
        problem = _later(problem, data, settings)
    return _measured(problem, network.scores(), measures, settings)


def recommend(
    folder: Path, *, k: int = 10, users: Sequence[str] | None = None, seen: bool = False
) -> pl.DataFrame:
    """The first k items for every user, or for some, with the scores and where they come from.

    What a user had in any part is left out, unless ``seen``. A user whom the model does not know
    gets the items with the most positives: their ``source`` is ``"popular"`` rather than
    ``"model"``, and their score is the number of positives.
    """
    if k < 1:
        raise UsageError(f"k must be a whole number >= 1, got {k}")
    _, problem, network = load_run(folder)
    asked = list(problem.users if users is None else dict.fromkeys(users))
    if not asked:
        raise UsageError("users must name at least one user, got none")
    number = {user: code for code, user in enumerate(problem.users)}
    codes = np.array([number[user] for user in asked if user in number], dtype=np.int64)
    had = None if seen else problem.pairs((0, 1, 2), positive=False)
    blocks = list(best_items(network.scores(), torch.from_numpy(codes), had, k))
    known, strangers = len(problem.users), [user for user in asked if user not in number]
    counts = torch.bincount(problem.pairs((0, 1, 2)).items, minlength=len(problem.items))
    popular = counts.argsort(descending=True, stable=True)[:k].expand(len(strangers), -1)
    blocks.append((known + torch.arange(len(strangers)), popular, counts[popular].float()))
    users_of, items, scores = map(torch.cat, zip(*blocks, strict=True))
    there = scores > -torch.inf  # −∞ is no item
    columns = (users_of.unsqueeze(1).expand_as(items), there.cumsum(1), items, scores)
    user, rank, item, score = (column[there].numpy() for column in columns)
    names = (*problem.users, *strangers)
    frame = pl.DataFrame(
        {
            "user": [names[code] for code in user],
            "rank": rank,
            "item": [problem.items[code] for code in item],
            "score": score,
            "source": np.where(user < known, MODEL, POPULAR),
        },
        schema=SCHEMA,
    )
    return frame.sort(pl.col("user").cast(pl.Enum(asked)), maintain_order=True)


def _measured(
    problem: Problem, scores: Scorer, measures: Sequence[Measure], settings: Settings
) -> dict[str, Evaluation]:
    wanted = problem.pairs((2,))
    seen = problem.pairs((0, 1), positive=False)
    learned = problem.learned(refit=bool(settings.refit))
    both = {POPULARITY: popularity(learned), MODEL: scores}
    return {name: evaluate(s, wanted, seen, measures, learned) for name, s in both.items()}


def _later(problem: Problem, data: Interactions, settings: Settings) -> Problem:
    """The run's interactions all seen, and others as the test part."""
    user = codes_of(data.users, problem.users, "user", data.path)[data.user]
    item = codes_of(data.items, problem.items, "item", data.path)[data.item]
    size = len(problem.items)
    new = ~np.isin(user * size + item, problem.user * size + problem.item)
    positive = data.positive(settings.threshold)
    if not (new & positive).any():
        raise DataError(
            f"{data.path}: has no positive that the run had not seen; without --data its own "
            "test part is measured"
        )
    return replace(
        problem,
        user=np.concatenate([problem.user, user[new]]),
        item=np.concatenate([problem.item, item[new]]),
        positive=np.concatenate([problem.positive, positive[new]]),
        part=np.pad(np.minimum(problem.part, 1), (0, int(new.sum())), constant_values=2),
    )
