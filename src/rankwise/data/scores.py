"""Scores and targets of files that do not fit into memory, a batch of rows at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise._parquet import require_parquet
from rankwise.data._roles import choose_positive, require_present, same_value
from rankwise.data.errors import DataError, parsing
from rankwise.data.files import format_of, require_columns, scan_as_written
from rankwise.data.reading import has_value
from rankwise.files import require_unchanged_table

_ROWS = 1 << 20  # rows of a batch
_VALUES = 1000  # of a target that are kept for a message
LARGE_ROWS = 20_000_000
"""Rows of a parquet file from which it is read in batches without being asked."""
LARGE_BYTES = 1 << 30
"""Bytes of a csv file from which it is read in batches without being asked."""


class ScoreBatch(NamedTuple):
    """Rows of a file that have a target."""

    scores: NDArray[Any]  # float32 or float64
    target: pl.Series
    written: bool  # whether the target is text as it is written in the file
    left_out: int  # rows without a target
    marked: int | None  # rows that are marked; None without such a column


def is_large(path: Path) -> bool:
    """Return whether a file of scores should be read in batches."""
    if format_of(path) == "parquet":
        return _height(path) > LARGE_ROWS
    return path.stat().st_size > LARGE_BYTES


@dataclass(frozen=True)
class ScoreFiles:
    """Scores and targets of files, csv or parquet; only these columns are read, every time anew."""

    paths: tuple[Path, ...]
    target: str
    score: str
    mark: str | None = None  # a column of true and false whose rows are counted, where there is one

    def __post_init__(self) -> None:
        """Verify the files that rankwise wrote, once for all readings."""
        for path in self.paths:
            require_unchanged_table(path)

    def __iter__(self) -> Iterator[ScoreBatch]:
        for path in self.paths:
            yield from self._batches(path)

    def _batches(self, path: Path) -> Iterator[ScoreBatch]:
        kind = format_of(path)
        if kind == "svmlight":
            raise DataError(f"{path}: svmlight has no column of scores; write csv or parquet")
        with parsing(path, kind):
            scan = scan_as_written(path, kind, missing=True)
            names = scan.collect_schema().names()
            require_columns(path, names, [self.target], "target")
            require_columns(path, names, [self.score], "score")
            wanted = dict.fromkeys((self.target, self.score, self.mark))
            scan = scan.select([name for name in wanted if name in names])
            row = 0
            for frame in _frames(path, kind, scan):
                yield self._read(path, frame, row, written=kind == "csv")
                row += frame.height

    def _read(self, path: Path, frame: pl.DataFrame, row: int, *, written: bool) -> ScoreBatch:
        """Return the rows of a frame; ``row`` is the number of the first one in the file."""
        there = has_value(frame[self.target])
        left_out = int((~there).sum())
        present = frame.filter(there) if left_out else frame
        marked = None
        if self.mark in frame.columns:
            words = frame[self.mark].cast(pl.String).str.to_lowercase()
            marked = int(words.is_in(["true", "1"]).sum())
        try:
            scores = _scores(present[self.score])
        except DataError as error:
            rows = f"of rows {row + 1} to {row + frame.height}"
            raise DataError(f"{path}: the score column {self.score!r} {error} ({rows})") from None
        return ScoreBatch(scores, present[self.target], written, left_out, marked)


def _frames(path: Path, kind: str, scan: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    if kind == "csv":
        if not hasattr(scan, "collect_batches"):
            raise DataError(f"{path}: reading csv in batches needs polars 1.34 or later")
        yield from scan.collect_batches(chunk_size=_ROWS)
        return
    for start in range(0, _height(path), _ROWS):
        yield scan.slice(start, _ROWS).collect()


def _height(path: Path) -> int:
    with parsing(path, "parquet"):
        require_parquet(path, DataError, in_memory=False)
        return int(pl.scan_parquet(path).select(pl.len()).collect().item())


def _scores(column: pl.Series) -> NDArray[Any]:
    """Return finite or infinite numbers; Float32 stays as it is."""
    if column.dtype == pl.String:
        numbers = column.str.strip_chars().cast(pl.Float64, strict=False)
        wrong = numbers.is_null() & column.is_not_null()
        if wrong.any():
            place = wrong.arg_max() or 0
            raise DataError(f"must hold numbers, got {column[place]!r} in row {place + 1}")
        column = numbers
    elif not column.dtype.is_numeric():
        raise DataError(f"must hold numbers, got values of type {column.dtype}")
    require_present(column)
    kind = pl.Float32 if column.dtype == pl.Float32 else pl.Float64
    return column.cast(kind).to_numpy()


class Labels:
    """The classes of a target, of which it is decided after the first reading which is positive.

    Args:
        positive: The value that is asked for; None: the first value is taken until :meth:`decide`.
    """

    def __init__(self, positive: str | None = None) -> None:
        self.asked = positive
        self.counts: dict[str, int] = {}
        self.numeric = True
        self._taken: str | None = None

    def of(self, batch: ScoreBatch) -> NDArray[np.bool_]:
        """Return for every row whether it has the value that is taken as positive."""
        column = batch.target
        if column.dtype in (pl.Categorical, pl.Enum):
            column = column.cast(pl.String)
        taken = pl.repeat(False, len(column), dtype=pl.Boolean, eager=True)
        for value, number in column.value_counts().iter_rows():
            word = self._word(value, written=batch.written)
            if len(self.counts) < _VALUES or word in self.counts:
                self.counts[word] = self.counts.get(word, 0) + number
            if self.asked is None and self._taken is None:
                self._taken = word
            if self._is_taken(word):
                taken |= column == value
        if self.asked is None and len(self.counts) > 2:
            choose_positive(self.counts, None, numeric=self.numeric)  # raises
        return taken.to_numpy()

    def decide(self, *, one_class: bool = False) -> bool:
        """Decide which value is positive; return whether the classes have been taken as they are.

        ``one_class``: the value that was asked for may be missing, or be the only one.
        """
        if one_class and self.asked is not None:
            self._taken = self.asked
            return True
        positive = choose_positive(self.counts, self.asked, numeric=self.numeric)
        as_taken = self._is_taken(positive)
        self.asked = self._taken = positive
        return as_taken

    def _is_taken(self, word: str) -> bool:
        if self.asked is None:
            return word == self._taken
        return word == self.asked or same_value(self.asked, [word]) is not None

    def _word(self, value: object, *, written: bool) -> str:
        """Return a value as it is written, 1.0 as 1."""
        if isinstance(value, bool):
            self.numeric = False
            return str(value).lower()
        number = value if isinstance(value, int | float) else None
        if isinstance(value, str) and written:
            number = _number(value)
        if number is None:
            self.numeric = False
            return str(value)
        return str(int(number)) if float(number).is_integer() else str(number)


def _number(word: str) -> float | None:
    try:
        found = float(word)
    except ValueError:
        return None
    return found if math.isfinite(found) else None
