"""A whole run: fit, judge, write."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.data.letor import Letor
from rankwise.errors import UsageError
from rankwise.estimators import Ranker
from rankwise.report import write_json
from rankwise.report.verdict import Verdict
from rankwise.tasks.ranking.evaluate import (
    DEFAULT,
    Judged,
    gains_of,
    judged,
    known_metrics,
    require_gains,
)
from rankwise.tasks.ranking.fit import fitted, stops_by
from rankwise.tasks.ranking.page import write_results
from rankwise.tasks.ranking.settings import Settings
from rankwise.tasks.ranking.start import compared_with_start
from rankwise.training import RunFolder

CONFIG, MODEL, CHECKPOINT = "config.json", "model.ranker", "checkpoint.pt"


@dataclass(frozen=True)
class Finished:
    """What a run came to, and its page."""

    results: dict[str, dict[str, Judged]]  # by part, then by metric
    ranker: Ranker
    page: Path
    verdict: Verdict


def run(
    settings: Settings,
    out: Path,
    train: Letor,
    validation: Letor | None = None,
    test: Letor | None = None,
    *,
    metrics: Sequence[str] = DEFAULT,
    resume: bool = False,
) -> Finished:
    """Fit into the folder ``out``, then evaluate every file that was given.

    A folder that already holds a run needs ``resume``: a stopped run continues from its checkpoint,
    to the same model as without the stop; a finished one is evaluated again.
    """
    with RunFolder(out, "rank").opened(resume=resume) as folder:
        finished = _run(settings, out, train, validation, test, metrics)
        folder.finish()
        return finished


def _run(  # noqa: PLR0917
    settings: Settings,
    out: Path,
    train: Letor,
    validation: Letor | None,
    test: Letor | None,
    metrics: Sequence[str],
) -> Finished:
    names = known_metrics((*metrics, settings.metric))
    given = {"train": train, "validation": validation, "test": test}
    parts = {name: part for name, part in given.items() if part is not None}
    width = max(part.width for part in (train, validation) if part is not None)
    for part in parts.values():
        require_gains(part, gains_of(names))
    if test is not None:
        test.columns(width)  # a feature too many is said before the work is done
    files = {name: str(part.path) for name, part in parts.items()}
    asked = {"data": files, "settings": settings.model_dump()}
    if (out / CONFIG).exists():
        _require_the_same(out / CONFIG, asked)
        ranker = load_run(out)[1]
    else:
        ranker = fitted(settings, train, validation, checkpoint=out / CHECKPOINT)
        ranker.save(out / MODEL)
    results = {
        name: judged(scores_of(ranker, part), part, names, relevant=settings.relevant)
        for name, part in parts.items()
    }
    counts = [
        (name, len(part.queries), len(part), int((part.target >= settings.relevant).sum()))
        for name, part in parts.items()
    ]
    history = [float(v) for v in getattr(ranker, "history_", [])]
    learned = [part for part in (train, validation) if part is not None]
    stopped_by = stops_by(settings, *learned)
    last, shown = list(parts.items())[-1]
    said = compared_with_start(settings, ranker, last, shown, scores_of(ranker, shown))
    page = write_results(
        out, settings, counts, results, history, stopped_by=stopped_by, verdict=said
    )
    # Last: a folder without it holds no run that has ended.
    write_json(out / CONFIG, asked)
    (out / CHECKPOINT).unlink(missing_ok=True)
    return Finished(results, ranker, page, said)


def _require_the_same(config: Path, asked: dict[str, Any]) -> None:
    """Refuse to go on with a finished run of other files or settings."""
    before = json.loads(config.read_text())
    now = json.loads(json.dumps(asked))
    for kind in ("settings", "data"):
        for name in sorted({*before.get(kind, {}), *now[kind]} - {"test"}):
            was, own = (found.get(kind, {}).get(name) for found in (before, now))
            if was != own:
                raise UsageError(
                    f"{config.parent}: the run has ended with {name} = {was!r}, not {own!r}; "
                    "choose another folder with --out"
                )


def load_run(folder: Path) -> tuple[Settings, Ranker]:
    """The settings and the ranker of a finished run."""
    for name in (CONFIG, MODEL):
        if not (folder / name).is_file():
            raise UsageError(f"{folder}: is no finished run ({name} is missing)")
    try:
        settings = Settings(**json.loads((folder / CONFIG).read_text())["settings"])
        return settings, Ranker.load(folder / MODEL)
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{folder}: is not a run that can be read: {error}") from None


def scores_of(ranker: Ranker, data: Letor) -> NDArray[np.float64]:
    """The scores of the documents."""
    found: NDArray[np.float64] = ranker.decision_function(data.columns(ranker.n_features_in_))
    return found


def scores_frame(data: Letor, scores: NDArray[np.float64]) -> pl.DataFrame:
    """Query, document, rank and score of every document, in the order of the file.

    Tied documents share the rank of the first of them.
    """
    frame = pl.DataFrame(
        {
            "query": [data.queries[group] for group in data.groups.tolist()],
            "document": [data.document(row) for row in range(len(data))],
            "score": scores,
        }
    )
    rank = pl.col("score").rank("min", descending=True).over("query")
    return frame.select("query", "document", rank.alias("rank"), "score")
