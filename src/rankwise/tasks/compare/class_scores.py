"""Scores of several classes in files: the columns of predictions, and their metrics by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from rankwise.data import DataError, read_table
from rankwise.data.files import format_of, require_columns, scan_as_written
from rankwise.errors import foreign_errors
from rankwise.files import nan_to_none
from rankwise.metrics import Interval
from rankwise.report.html import Table as ReportTable
from rankwise.tasks.compare.classes import BY_CLASS, METRICS, ClassTruth, require_metric_of_classes
from rankwise.tasks.compare.metrics import Floats, resolve_metric

PREDICTION = "prediction"  # the column of the most likely class


@dataclass(frozen=True)
class OfClass:
    """The metrics of one class against the rest."""

    label: str
    rows: int
    metrics: Mapping[str, Interval]


@dataclass(frozen=True)
class ClassScores:
    """The classes of a target, their scores and their metrics."""

    rows: int
    metrics: dict[str, Interval]
    by_class: tuple[OfClass, ...]
    without_target: int = 0


def prediction_names(classes: Sequence[str]) -> list[str]:
    """Return the names of the columns that predictions of several classes have."""
    return [PREDICTION, *(f"{kind}_{c}" for kind in ("score", "probability") for c in classes)]


def prediction_columns(
    classes: Sequence[str], scores: Floats, probabilities: Floats
) -> dict[str, pl.Series | Floats]:
    """Return the most likely class, and a score and a probability per class."""
    names = pl.Series(PREDICTION, np.array(classes)[probabilities.argmax(axis=1)])
    columns: dict[str, pl.Series | Floats] = {PREDICTION: names}
    for kind, values in (("score", scores), ("probability", probabilities)):
        pairs = zip(classes, values.T, strict=True)
        columns |= {f"{kind}_{label}": np.ascontiguousarray(column) for label, column in pairs}
    return columns


def has_class_scores(path: Path, score: str) -> bool:
    """Return whether a file has no such column but some for classes, such as ``score_setosa``."""
    if format_of(path) == "svmlight":
        return False
    with foreign_errors(f"{path}: cannot be read", DataError):
        columns = scan_as_written(path, format_of(path)).collect_schema().names()
    return score not in columns and any(name.startswith(f"{score}_") for name in columns)


def evaluate_class_scores(
    path: Path, *, target: str, score: str, metrics: Sequence[str] | None = None, seed: int = 0
) -> ClassScores:
    """Compute metrics of the columns ``score_CLASS`` of all classes, with 95 % intervals."""
    table = read_table(path, target=target, several=True)
    if not table.classes:
        raise DataError(
            f"{path}: the target {target!r} has two classes, and --score {score} names columns of "
            f"several; pass the scores of the positive class, such as --score {score}_CLASS"
        )
    names = [f"{score}_{label}" for label in table.classes]
    frame = scan_as_written(path, format_of(path))
    require_columns(path, frame.collect_schema().names(), names, "score")
    read = frame.select(pl.col(names).cast(pl.Float64, strict=False)).collect().to_numpy()
    scores = read[table.in_file(np.arange(len(table)))]
    if np.isnan(scores).any():
        row, column = (int(place[0]) for place in np.nonzero(np.isnan(scores)))
        raise DataError(
            f"{path}: the score column {names[column]!r} must hold a number in every row, got "
            f"none in row {row + 1}"
        )
    truth = ClassTruth(table.target, None, None, len(table.classes))
    found = measure_classes(truth, table.classes, scores, metrics, seed=seed)
    return ClassScores(len(table), *found, table.without_target)


def measure_classes(
    truth: ClassTruth,
    classes: Sequence[str],
    scores: Floats,
    metrics: Sequence[str] | None,
    *,
    seed: int,
) -> tuple[dict[str, Interval], tuple[OfClass, ...]]:
    """Return means over the classes, those named or all, and the AP and AUROC of every class."""
    asked = [resolve_metric(name, grouped=False, several=True) for name in metrics or METRICS]
    for name in asked:
        require_metric_of_classes(name, len(classes))
    means = truth.intervals(list(dict.fromkeys(asked)), scores, seed=seed)
    lines = []
    for number, label in enumerate(classes):
        own, column = truth.of_class(number), np.ascontiguousarray(scores[:, number])
        rows = int(own.target.sum())
        lines.append(OfClass(label, rows, own.intervals(BY_CLASS, column, seed=seed)))
    return means, tuple(lines)


def classes_table(classes: Sequence[OfClass]) -> ReportTable:
    """Return one row per class."""
    header = ("class", "rows", *(f"{n} (95 %)" for n in BY_CLASS))
    rows = [(each.label, each.rows, *map(_shown, each.metrics.values())) for each in classes]
    return ReportTable(header, rows, "each class against the rest")


def _shown(found: Interval) -> str:
    return f"{found.value:.4f} ({found.low:.4f} – {found.high:.4f})"


def classes_json(classes: Sequence[OfClass]) -> list[object]:
    """Return the classes as JSON; what is not defined is null."""
    keys = ("value", "low", "high", "method")
    return [
        {
            "class": each.label,
            "rows": each.rows,
            "metrics": nan_to_none(
                {n: {k: getattr(m, k) for k in keys} for n, m in each.metrics.items()}
            ),
        }
        for each in classes
    ]


def classes_frame(
    metrics: Mapping[str, Interval], rows: int, classes: Sequence[OfClass]
) -> pl.DataFrame:
    """Return the means over the classes, and below them the metrics of every class."""
    lines: list[tuple[str | None, int, str, Interval]]
    lines = [(None, rows, name, each) for name, each in metrics.items()]
    lines += [(c.label, c.rows, name, each) for c in classes for name, each in c.metrics.items()]
    made = [
        {"class": label, "rows": n, "metric": name, "value": m.value, "low": m.low, "high": m.high}
        for label, n, name, m in lines
    ]
    return pl.DataFrame(made, schema_overrides={"class": pl.String}).with_columns(
        pl.selectors.float().fill_nan(None)
    )
