"""What every column of a table is taken for, and which ones are left out."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

from rankwise.data.dates import (
    COMPACT,
    DAY_FIRST,
    MONTH_FIRST,
    are_compact,
    find_format,
    read_hours,
)
from rankwise.data.numbers import currency_of, numbers_in
from rankwise.data.reading import BOOLEAN, HOURS, Rule
from rankwise.data.slips import slip_in

__all__ = ["ColumnInfo", "Decided", "Wishes", "as_date", "decide", "described"]

_NAMED_ID = re.compile(r"(^|[_\-. ])id$", re.IGNORECASE)
_NAMED_WEIGHT = re.compile(r"^(sample|row|case)?[_\-. ]?weights?$", re.IGNORECASE)
_NEAR_UNIQUE = 0.9  # share of different values from which words name rows
_SAMPLE = 100  # different values that rule out most readings
_TEXT_UNIQUE, _TEXT_WORDS = 0.5, 4.0  # share of different values, and mean words, of free text


@dataclass(frozen=True)
class ColumnInfo:
    """One column: what it was taken for, its levels and gaps, and why it was left out."""

    name: str
    taken_for: str
    levels: int  # different values that are there
    missing: int
    left_out: str | None = None  # the reason
    remark: str | None = None

    @property
    def said(self) -> str:
        """The reason or the remark, for a reader."""
        if self.left_out is not None:
            return f"left out: {self.left_out}"
        return self.remark or ""


@dataclass(frozen=True)
class Wishes:
    """What a user asks of the columns."""

    use: Collection[str] = ()
    text: Collection[str] = ()
    date_format: str | None = None


@dataclass(frozen=True)
class Decided:
    """What a column is, and the rule it is read by; None where it is left out."""

    info: ColumnInfo
    rule: Rule | None
    slip: str | None = None


def described(column: pl.Series, role: str, remark: str | None = None) -> ColumnInfo:
    """A column that has a role of its own and is no feature."""
    present = _present(column)
    return ColumnInfo(
        column.name, role, present.n_unique(), len(column) - len(present), remark=remark
    )


def decide(column: pl.Series, wishes: Wishes) -> Decided:
    """Decide what a column is taken for."""
    name, present = column.name, _present(column)
    missing = len(column) - len(present)
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        why = "holds lists, structures or bytes"
        return Decided(ColumnInfo(name, "lists", len(present), missing, left_out=why), None)
    counts = (present.n_unique(), missing)
    taken = _Taken.of(present, wishes)
    slip = None
    if taken.rule.kind == "categorical" and column.dtype == pl.String:
        slip = slip_in(column)
    wanted = name in wishes.use or name in wishes.text
    reason = None if wanted else _reason(column, present, taken)
    if reason is not None:
        what, why = reason
        return Decided(ColumnInfo(name, what, *counts, left_out=why), None, slip)
    if taken.name == "text" and name not in wishes.text:  # --use, not --text
        taken = _Taken(Rule(name, "categorical"), "category")
    return Decided(ColumnInfo(name, taken.name, *counts, remark=taken.remark), taken.rule, slip)


@dataclass(frozen=True)
class _Taken:
    """The rule of a column, what it is called, and a remark for the reader."""

    rule: Rule
    name: str
    remark: str | None = None

    @classmethod
    def of(cls, present: pl.Series, wishes: Wishes) -> _Taken:
        """By the values that are there."""
        name, kind = present.name, present.dtype
        if name in wishes.text:
            found = cls(Rule(name, "text"), "text")
        elif kind == pl.String:
            found = _of_words(present, wishes)
        elif kind == pl.Boolean:
            found = cls(Rule(name, "numeric", BOOLEAN), "number", "true is 1, false is 0")
        elif kind.is_numeric() or kind == pl.Null:
            found = _of_numbers(present, wishes)
        elif kind in (pl.Date, pl.Datetime):
            found = cls(Rule(name, "time", "%Y-%m-%d"), "date")
        elif kind == pl.Time:
            found = cls(Rule(name, "numeric", HOURS), "number", "a time of day, in hours")
        elif kind == pl.Duration:
            found = cls(Rule(name, "numeric"), "number", "a span, in days")
        else:
            found = cls(Rule(name, "categorical"), "category")
        return found


def _of_numbers(present: pl.Series, wishes: Wishes) -> _Taken:
    name = present.name
    if present.dtype.is_integer() and len(present):
        form = _date_of_integers(present, wishes.date_format)
        if form is not None:
            return _Taken(Rule(name, "time", form), "date", as_date(form))
        # An id that is wanted: its numbers are names, where they come more than once.
        if name in wishes.use and _NAMED_ID.search(name) and present.n_unique() <= len(present) / 2:
            return _Taken(Rule(name, "categorical"), "category", "its numbers are names")
    remark = f"if it is a sample weight: --weight {name}" if _NAMED_WEIGHT.search(name) else None
    return _Taken(Rule(name, "numeric"), "number", remark)


def _date_of_integers(present: pl.Series, given: str | None) -> str | None:
    """The format of whole numbers that are plainly dates, such as 20230125."""
    if given is not None:
        found = find_format(present.cast(pl.String), given)
        if found is not None and found.format == given:
            return given
    return COMPACT if are_compact(present) else None


def _of_words(present: pl.Series, wishes: Wishes) -> _Taken:
    name = present.name
    if not len(present):
        return _Taken(Rule(name, "categorical"), "category")
    distinct = present.unique(maintain_order=True)
    sample = distinct[:_SAMPLE]
    found = find_format(distinct, wishes.date_format)
    if found is not None:
        remark = as_date(found.format)
        if found.other is not None:
            remark += f"; if the day is first: --date-format {found.other}"
        return _Taken(Rule(name, "time", found.format), "date", remark)
    if not numbers_in(sample, currency_of(sample)).null_count():
        currency = currency_of(distinct)
        if not numbers_in(distinct, currency).null_count():
            amounts = None if currency is None else f"amounts in {currency}"
            if distinct.str.contains("%", literal=True).any():
                amounts = "percentages, divided by 100"
            return _Taken(Rule(name, "numeric", currency=currency), "number", amounts)
    if not read_hours(sample).null_count() and not read_hours(distinct).null_count():
        return _Taken(Rule(name, "numeric", HOURS), "number", "a time of day, in hours")
    if _is_text(present):
        return _Taken(Rule(name, "text"), "text")
    return _Taken(Rule(name, "categorical"), "category")


def _reason(column: pl.Series, present: pl.Series, taken: _Taken) -> tuple[str, str] | None:
    """What a column is that should be left out, and why; None for a feature."""
    name, levels = column.name, present.n_unique()
    takes = f"--use {name} takes it"
    near = taken.rule.kind == "categorical" and len(present) > 2
    found = None
    if not len(present):
        found = ("empty", "has no value")
    elif levels == 1 and len(present) == len(column):
        found = ("constant", "has the same value in every row")
    elif _NAMED_ID.search(name):
        found = ("id", f"its name is that of an id; {takes}")
    elif column.dtype.is_integer() and taken.name == "number" and _counts_rows(column):
        found = ("id", f"consecutive numbers, different in every row; {takes}")
    elif taken.name == "text":
        found = ("text", f"free text; --text {name} learns from its words")
    elif near and levels > _NEAR_UNIQUE * len(present):
        share = "every" if levels == len(present) else "almost every"
        found = ("words", f"different in {share} row; {takes}")
    return found


def _counts_rows(column: pl.Series) -> bool:
    if len(column) < 3 or column.null_count() or column.n_unique() < len(column):
        return False
    low, high = column.min(), column.max()
    return isinstance(low, int) and isinstance(high, int) and high - low == len(column) - 1


def _is_text(present: pl.Series) -> bool:
    if len(present) < 3 or present.n_unique() <= _TEXT_UNIQUE * len(present):
        return False
    words = present.str.count_matches(r"\w+").mean()
    return isinstance(words, float) and words >= _TEXT_WORDS


def as_date(form: str) -> str:
    """How dates were read, for a reader."""
    shown = {MONTH_FIRST: "mm/dd/yyyy", DAY_FIRST: "dd/mm/yyyy"}.get(form, form)
    return f"read as {shown}"


def _present(column: pl.Series) -> pl.Series:
    found = column.drop_nulls()
    return found.drop_nans() if column.dtype.is_float() else found
