"""Scores and probabilities of rows, with columns of the file they come from."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.data import DataError, Features, read_columns
from rankwise.data.table import take
from rankwise.report import write_whole
from rankwise.tasks.compare.model import Model, load_model
from rankwise.tasks.compare.prediction_columns import IN_TRAINING, kept_columns

__all__ = ["Predicted", "predict_file"]


@dataclass(frozen=True, eq=False)
class Predicted:
    """A score and a probability for every row, after the columns that were kept."""

    frame: pl.DataFrame
    warning: str | None = None  # that the model was trained on these rows
    remarks: tuple[str, ...] = ()  # values that could not be read, one sentence per column

    def csv(self) -> str:
        """As comma-separated values with a header."""
        for column in self.frame:
            if column.dtype.is_nested() or column.dtype == pl.Binary:
                raise DataError(
                    f"--keep cannot write the column {column.name!r} of {column.dtype} as csv; "
                    "write parquet (--out scores.parquet), or do not keep it"
                )
        return self.frame.write_csv()

    def write(self, path: Path) -> Path:
        """Into a file, as csv or by its ending as parquet; there whole or not at all."""
        if path.suffix.lower() in (".parquet", ".pq"):
            buffer = io.BytesIO()
            self.frame.write_parquet(buffer)
            return write_whole(path, buffer.getvalue())
        return write_whole(path, self.csv())


def predict_file(
    model: Path,
    data: Path,
    *,
    keep: Sequence[str] = (),
    rows: NDArray[np.int64] | None = None,
) -> Predicted:
    """Score the rows of a file by a model that was saved.

    The columns are found by their names, in any order, and read as they were in training; others
    are not looked at. In svmlight they are known by their numbers.

    keep
        Columns of the file that stand before the scores, ``all`` for every one; svmlight has
        ``target`` and ``qid``.
    rows
        Numbers of the rows to score, from 0; every row if not given.

    Where more rows equal a training row than duplicates explain, the column ``in_training`` marks
    them, and there is a warning.
    """
    loaded = load_model(model)
    features, remarks = read_columns(data, loaded.reading)
    kept = kept_columns(data, keep)
    if rows is not None:
        if rows.max(initial=-1) >= features.shape[0]:
            raise DataError(f"{data}: has {features.shape[0]} rows, row {rows.max() + 1} is wanted")
        features, kept = take(features, rows), kept[rows] if kept.width else kept
    marks, warning = _seen(loaded, features)
    scores = {"score": loaded.scores(features), "probability": loaded.probabilities(features)}
    made = pl.DataFrame({**scores, **marks})
    return Predicted(kept.hstack(made) if kept.width else made, warning, remarks)


def _seen(model: Model, features: Features) -> tuple[dict[str, NDArray[np.bool_]], str | None]:
    """The marks of training rows and the warning, both only where there is something to say."""
    if model.training_rows is None:
        return {}, None
    known = model.training_rows
    marks = known.among(features, model.names)
    count, rows = int(marks.sum()), len(marks)
    if not known.exceeded_by(count, rows):
        return {}, None
    return {IN_TRAINING: marks}, (
        f"{count} of {rows} rows ({100 * count / rows:.1f} %) equal a row the model was trained on "
        f"({100 * known.duplicate_rate:.1f} % of the held-out rows do): metrics of these scores "
        f"are not an estimate for new rows; the column {IN_TRAINING} marks the rows"
    )
