"""Search of the hyperparameters of a model in closed form, on validation."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from rankwise.errors import UsageError
from rankwise.report import write_csv
from rankwise.tasks.recommendation.catalog import Scorer
from rankwise.tasks.recommendation.evaluation import evaluate, measure_of, popularity
from rankwise.tasks.recommendation.model import ClosedForm, Model
from rankwise.tasks.recommendation.outcome import Searched
from rankwise.tasks.recommendation.problem import Problem
from rankwise.tasks.recommendation.settings import Settings
from rankwise.training import CHECKPOINT, RunFolder

SEARCH = "search.json"


def search(
    model: type[ClosedForm],
    problem: Problem,
    settings: Settings,
    folder: RunFolder | None = None,
    *,
    refit: bool,
    resume: bool = False,
    on_training: Callable[[str], None] = lambda words: None,
) -> Searched:
    """Fit every combination that the settings leave open, and keep the best on validation.

    With ``refit`` that one is then fitted on the training and the validation part. The same
    settings and data give the same model; ``resume`` refuses a folder with a search of others.
    """
    train, measure = problem.learned(refit=False), measure_of(settings.metric)
    wanted, seen = problem.validation(settings), problem.pairs((0,), positive=False)

    def value(scores: Scorer) -> float:
        return evaluate(scores, wanted, seen, [measure]).means()[settings.metric].value

    if folder is not None:
        _record(folder, settings, problem, resume=resume)
    rows: list[dict[str, float]] = []
    best: tuple[float, int, Settings, ClosedForm] | None = None
    for candidate in model.candidates(settings):
        for chosen, made in model.fits(train, candidate):
            found = value(made.scores())
            named = {name: getattr(chosen, name) for name in model.options()}
            rows.append({**named, settings.metric: found})
            words = ", ".join(f"{name} {number:g}" for name, number in named.items())
            on_training(f"{words}: {settings.metric} {found:.4f} on validation")
            better = -math.inf if math.isnan(found) else found
            if best is None or better > best[0]:
                best = better, len(rows), chosen, made
    if best is None:  # pragma: no cover  (a grid is never empty)
        raise ValueError(f"{model.__name__} has no candidates")
    _, row, chosen, made = best
    if folder is not None:
        write_csv(folder.path / "metrics.csv", rows)
    if refit:
        on_training("training and validation part: a new fit")
        ((_, made),) = model.fits(problem.learned(refit=True), chosen)
    start = value(popularity(train))
    return Searched(made.eval(), rows, row, start, chosen.replace(refit=refit))


def require_kind(folder: RunFolder, model: type[Model], settings: Settings) -> None:
    """Raise where a folder has a training and a search is to be resumed, or the reverse."""
    other = CHECKPOINT if issubclass(model, ClosedForm) else SEARCH
    if (folder.path / other).exists():
        raise UsageError(
            f"{folder.path}: the run cannot be resumed with model {settings.model}, it is of "
            "another one; pass another folder with --out"
        )


def _record(folder: RunFolder, settings: Settings, problem: Problem, *, resume: bool) -> None:
    """Write what the search is of, or refuse a folder in which it was of something else."""
    asked, data = settings.plain(), problem.fingerprint()
    known = folder.read(SEARCH) if resume else None
    now: dict[str, Any] = {"settings": asked, "data": data}
    before = now if known is None else json.loads(known)
    if before["data"] != data:
        raise UsageError(f"{folder.path}: the run cannot be resumed with other training data")
    was = dict(before["settings"])
    changed = [
        f"{name} was {was.get(name)!r} and is {value!r}"
        for name, value in asked.items()
        if was.get(name) != value
    ]
    if changed:
        raise UsageError(
            f"{folder.path}: the run cannot be resumed with other settings: {', '.join(changed)}"
        )
    folder.write(SEARCH, json.dumps(now, indent=2).encode())
