"""Columns of a file, and rules to read them: decided once, kept with the model, used again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from rankwise.data import _formats as formats

Kind = Literal["numeric", "categorical", "time", "text"]

BOOLEAN, HOURS = "boolean", "time of day"


@dataclass(frozen=True)
class Rule:
    """The rule by which the values of one feature are read.

    ``format`` is the strftime format of a time (None: found again in every file), and of a number
    ``"boolean"`` or ``"time of day"`` where it is written so. ``currency`` is the sign that a
    number may have.
    """

    name: str
    kind: Kind
    format: str | None = None
    currency: str | None = None

    def read(self, column: pl.Series) -> pl.Series:
        """Return float64 with NaN, text or datetimes; values that cannot be read are missing."""
        found = self._read(column)
        return found.fill_null(float("nan")) if self.kind == "numeric" else found

    def unread(self, column: pl.Series) -> pl.Series:
        """Return for every row whether its value is present and cannot be read."""
        if self.kind in ("categorical", "text"):
            return pl.repeat(False, len(column), eager=True)
        return formats.has_value(column) & self._read(column).is_null()

    def _read(self, column: pl.Series) -> pl.Series:
        if self.kind == "numeric":
            return self._numbers(column)
        if self.kind == "time":
            return self._times(column)
        return column if self.kind == "text" and column.dtype == pl.String else _words(column)

    def _numbers(self, column: pl.Series) -> pl.Series:
        kind = column.dtype
        if kind.is_numeric() or kind in (pl.Boolean, pl.Null):
            return column.cast(pl.Float64).fill_nan(None)
        if kind in (pl.Time, pl.Duration):  # in hours, and in days
            span = column if kind == pl.Time else column.cast(pl.Duration("us"))
            return span.cast(pl.Int64) / (3.6e12 if kind == pl.Time else 86_400e6)
        if kind not in (pl.String, pl.Categorical, pl.Enum):
            return pl.Series(column.name, [None] * len(column), dtype=pl.Float64)
        words = column.cast(pl.String)
        if self.format == HOURS:
            return formats.read_hours(words)
        if self.format == BOOLEAN:
            truth = words.str.strip_chars().str.to_lowercase()
            known = truth.replace_strict({"true": 1.0, "false": 0.0}, default=None)
            return known.cast(pl.Float64).fill_null(formats.read_numbers(words))
        return formats.read_numbers(words, self.currency).fill_nan(None)

    def _times(self, column: pl.Series) -> pl.Series:
        if column.dtype in (pl.Date, pl.Datetime):
            return formats.in_utc(column)
        words, form = _words(column), self.format
        if form is None and (found := formats.find_format(words)) is not None:
            form = found.format
        if form is None:
            return pl.Series(column.name, [None] * len(column), dtype=pl.Datetime("us"))
        return formats.read_dates(words, form)


@dataclass(frozen=True)
class Reading:
    """The rules of all features, in order."""

    rules: tuple[Rule, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return tuple(rule.name for rule in self.rules)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of the features."""
        return tuple(rule.kind for rule in self.rules)

    @property
    def text(self) -> tuple[str, ...]:
        """The features that are free text."""
        return tuple(rule.name for rule in self.rules if rule.kind == "text")

    def read(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Read the features of a frame that has all of them."""
        return pl.DataFrame([rule.read(frame[rule.name]).alias(rule.name) for rule in self.rules])

    def remarks(self, frame: pl.DataFrame) -> tuple[str, ...]:
        """Describe every column with values that cannot be read as they were in training."""
        found = []
        for rule in self.rules:
            column = frame[rule.name]
            wrong = rule.unread(column)
            if wrong.any():
                row = wrong.arg_max() or 0
                what = "numbers" if rule.kind == "numeric" else "dates"
                form = f" ({rule.format})" if rule.kind == "time" and rule.format else ""
                found.append(
                    f"column {rule.name!r}: {wrong.sum()} of {len(column)} values cannot be read "
                    f"as {what}{form}, as in training, such as {str(column[row])!r} in row "
                    f"{row + 1}; they count as missing"
                )
        return tuple(found)


@dataclass(frozen=True)
class ColumnInfo:
    """A column of a file: its kind, counts of its values, and why it was left out."""

    name: str
    taken_for: str
    levels: int  # different values, without missing ones
    missing: int
    left_out: str | None = None  # the reason
    remark: str | None = None

    @property
    def said(self) -> str:
        """The reason it was left out, or the remark."""
        return self.remark or "" if self.left_out is None else f"left out: {self.left_out}"


def _words(column: pl.Series) -> pl.Series:
    """Return values as words; whole numbers have no ``.0``, wherever they come from."""
    if column.dtype.is_float():
        column = column.fill_nan(None)
    return column.cast(pl.String).str.replace(r"^(-?\d+)\.0+$", "$1")
