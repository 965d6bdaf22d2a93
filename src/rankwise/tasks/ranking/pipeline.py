"""Whole runs of learning to rank: fit, evaluate, write."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.data import DataError
from rankwise.data.letor import Letor
from rankwise.errors import UsageError
from rankwise.estimators import Ranker
from rankwise.estimators.names import is_graded
from rankwise.naming import metric
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
from rankwise.tasks.ranking.report import compared_with_start, write_results
from rankwise.tasks.ranking.settings import Settings
from rankwise.training import RunFolder


def stops_by(settings: Settings, *parts: Letor) -> str:
    """Return the metric of validation as training sees it, in words.

    An objective of two classes turns relevances into two classes, for the metric as well.
    """
    graded = any(len(np.unique(part.target)) > 2 for part in parts)
    if (
        not graded
        or not metric(settings.metric).setting.kernel.graded
        or is_graded(settings.objective)
    ):
        return settings.metric
    return f"{settings.metric} of two classes (relevant from {settings.relevant:g} on)"


def _target(settings: Settings, data: Letor) -> NDArray[np.float64]:
    """Return relevances, or two classes where the objective knows no more."""
    if is_graded(settings.objective):
        return data.target
    return (data.target >= settings.relevant).astype(np.float64)


def fitted(
    settings: Settings,
    train: Letor,
    validation: Letor | None = None,
    *,
    checkpoint: Path | None = None,
) -> Ranker:
    """Fit on the lists of one file, stop by those of another (else by a share of the first).

    With ``checkpoint`` the training writes its state there, and resumes from it.
    """
    parts = [train] if validation is None else [train, validation]
    width = max(part.width for part in parts)
    if is_graded(settings.objective):
        for part in parts:
            require_gains(part, settings.gains())
            if (
                not metric(settings.metric).setting.kernel.graded
                and len(np.unique(part.target)) > 2
            ):
                raise UsageError(
                    f"metric {settings.metric} stops training by two classes, but the objective "
                    f"{settings.objective} trains on the relevances of {part.path}; pass a metric "
                    "of relevances, such as ndcg@10 (--metrics still reports any metric)"
                )
    targets = [_target(settings, part) for part in parts]
    for part, own in zip(parts, targets, strict=True):
        if not own.any() or (own == own[0]).all():
            raise DataError(f"{part.path}: all documents are of one relevance; nothing to rank")
    ranker = settings.ranker()
    held_out = None
    if validation is not None:
        held_out = (validation.columns(width), targets[1], validation.groups)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a poor fit shows in its validation
            ranker.fit(
                train.columns(width),
                targets[0],
                groups=train.groups,
                validation=held_out,
                checkpoint=checkpoint,
            )
    except ValueError as error:
        raise UsageError(str(error)) from None
    return ranker


CONFIG, MODEL, CHECKPOINT = "config.json", "model.ranker", "checkpoint.pt"


@dataclass(frozen=True)
class Finished:
    """Results of a run, and its report."""

    results: dict[str, dict[str, Judged]]  # by part, then by metric
    ranker: Ranker
    report: Path
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
        report = write_results(
            out, settings, counts, results, history, stopped_by=stopped_by, verdict=said
        )
        # Last: a folder without it holds no run that has ended.
        write_json(out / CONFIG, asked)
        (out / CHECKPOINT).unlink(missing_ok=True)
        folder.finish()
        return Finished(results, ranker, report, said)


def _require_the_same(config: Path, asked: Mapping[str, Mapping[str, object]]) -> None:
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
