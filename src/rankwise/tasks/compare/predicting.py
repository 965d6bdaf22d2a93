"""Scores and probabilities of new rows."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.data import DataError, Features, read_columns
from rankwise.data.slips import first_word
from rankwise.report import write_whole
from rankwise.tasks.compare.model import Model, load_model

__all__ = ["Predicted", "predict_file"]

_SHOWN = 10  # missing columns that a message lists


class Predicted:
    """A score and a probability for every row, in the order of the file."""

    def __init__(self, scores: NDArray[np.float64], probabilities: NDArray[np.float64]) -> None:
        self.frame = pl.DataFrame({"score": scores, "probability": probabilities})

    def csv(self) -> str:
        """As comma-separated values with a header."""
        return self.frame.write_csv()

    def write(self, path: Path) -> Path:
        """Into a file, as csv or by its ending as parquet; there whole or not at all."""
        if path.suffix.lower() in (".parquet", ".pq"):
            buffer = io.BytesIO()
            self.frame.write_parquet(buffer)
            return write_whole(path, buffer.getvalue())
        return write_whole(path, self.csv())


def predict_file(model: Path, data: Path) -> Predicted:
    """Score the rows of a file by a model that was saved.

    The columns are found by their names, in any order; others are not looked at. In svmlight they
    are known by their numbers.
    """
    loaded = load_model(model)
    features = _features(loaded, data)
    return Predicted(loaded.scores(features), loaded.probabilities(features))


def _features(model: Model, path: Path) -> Features:
    found = read_columns(path, model.names)
    if not isinstance(found, pl.DataFrame):
        return found
    missing = [name for name in model.names if name not in found.columns]
    if missing:
        named = ", ".join(map(repr, missing[:_SHOWN])) + (", …" if len(missing) > _SHOWN else "")
        raise DataError(
            f"{path}: {len(missing)} of the {len(model.names)} columns of the model are missing: "
            f"{named}"
        )
    columns = []
    for name, kind in zip(model.names, model.kinds, strict=True):
        column = found[name]
        if kind == "categorical":
            columns.append(_words(column))
        elif column.dtype.is_numeric():
            columns.append(column)
        else:
            word, row = first_word(column)
            raise DataError(
                f"{path}: the column {name!r} held numbers in training, now it holds {word!r} in "
                f"row {row}"
            )
    return pl.DataFrame(columns)


def _words(column: pl.Series) -> pl.Series:
    """Categories as they were in training, where whole numbers may have been words."""
    if column.dtype.is_numeric():
        column = column.fill_nan(None)
        whole = column.drop_nulls()
        if bool((whole == whole.round()).all()):
            column = column.cast(pl.Int64)
    return column.cast(pl.String)
