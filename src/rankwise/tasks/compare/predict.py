"""Predict the scores and probabilities of rows by a saved model."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.data import DataError, read_columns
from rankwise.data._table_files import QUERY
from rankwise.data.files import format_of, read_svmlight, require_columns, scan_as_written
from rankwise.tasks.compare.class_scores import prediction_columns, prediction_names
from rankwise.tasks.compare.metrics import Floats
from rankwise.tasks.compare.model import load_model
from rankwise.tasks.compare.score_file import IN_TRAINING, typed

_WRITTEN = ("score", "probability", IN_TRAINING)
_ALL = "all"


@dataclass(frozen=True, eq=False)
class Predictions:
    """A score and a probability for every row, after the columns that were kept.

    Of more than two classes the most likely one, and a score and a probability for each.
    """

    frame: pl.DataFrame
    warning: str | None = None  # that the model was trained on these rows
    remarks: tuple[str, ...] = ()  # values that could not be read, one sentence per column


def predict_file(
    model: Path,
    data: Path,
    *,
    keep: Sequence[str] = (),
    rows: NDArray[np.int64] | None = None,
) -> Predictions:
    """Score the rows of a file by a model that was saved.

    The columns are found by their names, in any order, and read as they were in training; others
    are ignored. In svmlight they are known by their numbers.

    Args:
        model: Folder of a run or of its model, or file of an estimator.
        data: File with the rows to score.
        keep: Columns of the file that stand before the scores, ``all`` for every one; svmlight
            has ``target`` and ``qid``.
        rows: Numbers of the rows to score, from 0; every row if not given.

    Where more rows equal a training row than duplicates explain, the column ``in_training`` marks
    them, and there is a warning.
    """
    loaded = load_model(model)
    features, remarks = read_columns(data, loaded.reading)
    own = (*prediction_names(loaded.classes), IN_TRAINING) if loaded.classes else _WRITTEN
    kept = kept_columns(data, keep, own)
    if rows is not None:
        if rows.max(initial=-1) >= features.shape[0]:
            raise DataError(f"{data}: has {features.shape[0]} rows, row {rows.max() + 1} is wanted")
        features, kept = features[rows], kept[rows] if kept.width else kept
    scores, shares = loaded.scores(features), loaded.probabilities(features)
    columns: Mapping[str, pl.Series | Floats] = {"score": scores, "probability": shares}
    if loaded.classes:
        columns = prediction_columns(loaded.classes, scores, shares)
    made, warning, known = pl.DataFrame(columns), None, loaded.training_rows
    if known is not None:
        marks = known.among(features, loaded.reading.names)
        count, total = int(marks.sum()), len(marks)
        if known.exceeded_by(count, total):
            made = made.with_columns(pl.Series(IN_TRAINING, marks))
            warning = (
                f"{count} of {total} rows ({100 * count / total:.1f} %) equal a row the model was "
                f"trained on ({100 * known.duplicate_rate:.1f} % of the held-out rows do): metrics "
                f"of these scores are not an estimate for new rows; the column {IN_TRAINING} marks "
                "the rows"
            )
    return Predictions(kept.hstack(made) if kept.width else made, warning, remarks)


def kept_columns(
    path: Path, keep: Sequence[str], written: Collection[str] = _WRITTEN
) -> pl.DataFrame:
    """Return the columns named, or every column for ``all``, with the values of the file.

    A string may name several columns, separated by commas. A column that the predictions have
    themselves is refused.
    """
    if not keep:
        return pl.DataFrame()
    source = _source(path)
    columns = source.collect_schema().names()
    names = _names(keep, columns)
    require_columns(path, columns, names, "--keep")
    taken = [name for name in names if name in written]
    if taken:
        raise DataError(
            f"{path}: --keep cannot keep the column {taken[0]!r}, since the predictions have a "
            f"column of that name; rename it in the file, or keep other columns by their names"
        )
    found = source.select(names).collect()
    return found if format_of(path) != "csv" else pl.DataFrame([typed(each) for each in found])


def _source(path: Path) -> pl.LazyFrame:
    kind = format_of(path)
    if kind != "svmlight":
        return scan_as_written(path, kind)
    read = read_svmlight(path)
    queries = {QUERY: read.queries} if len(read.queries) else {}
    return pl.LazyFrame({"target": read.target, **queries})


def _names(keep: Sequence[str], columns: Sequence[str]) -> list[str]:
    names: list[str] = []
    for text in keep:
        if text == _ALL:
            names += columns
        elif text in columns:  # one whose name has a comma
            names.append(text)
        else:
            names += [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise DataError(f"--keep must name a column or be {_ALL!r}, got {', '.join(keep)!r}")
    return list(dict.fromkeys(names))
