"""The kind of every column of a table, and the columns that are left out."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import polars as pl

from rankwise.data import reading
from rankwise.data.reading import BOOLEAN, HOURS, ColumnInfo, Kind, Rule
from rankwise.errors import short_repr

_NAMED_ID = re.compile(r"(^|[_\-. ])id$", re.IGNORECASE)
_NAMED_WEIGHT = re.compile(r"^(sample|row|case)?[_\-. ]?weights?$", re.IGNORECASE)
_NEAR_UNIQUE = 0.9  # share of different values from which words name rows
_SAMPLE = 100  # different values that rule out most readings
_TEXT_UNIQUE, _TEXT_WORDS = 0.5, 4.0  # share of different values, and mean words, of free text
_MOST_NUMBERS = 0.8  # share of numbers that makes a word suspect; codes such as 12A seldom reach it
_KINDS = {"numeric": "number", "categorical": "category", "time": "date", "text": "text"}
_COMMA = r"^\s*[+-]?\d+,\d+\s*$"


@dataclass(frozen=True)
class Wishes:
    """The options of a user about the columns, as in :func:`rankwise.data.read_table`."""

    use: Collection[str] = ()
    text: Collection[str] = ()
    date_format: str | None = None
    drop: Collection[str] = ()
    positive: str | None = None
    graded: bool = False
    roles: Mapping[str, str] = field(default_factory=dict)  # columns by role, those that are given
    several: bool = False


class Decided(NamedTuple):
    """The kind of a column, its rule (None where it is left out), and a warning about it."""

    info: ColumnInfo
    rule: Rule | None
    warning: str | None = None


def is_named_id(name: str) -> bool:
    """Return whether the name of a column is that of an id."""
    return _NAMED_ID.search(name) is not None


def described(column: pl.Series, role: str, remark: str | None = None) -> ColumnInfo:
    """Describe a column that has a role and is not a feature."""
    present = column.filter(reading.has_value(column))
    missing = len(column) - len(present)
    return ColumnInfo(column.name, role, present.n_unique(), missing, remark=remark)


def decide(column: pl.Series, wishes: Wishes) -> Decided:
    """Decide the kind of a column and the rule it is read by."""
    name, present = column.name, column.filter(reading.has_value(column))
    missing = len(column) - len(present)
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        why = "holds lists, structures or bytes"
        return Decided(ColumnInfo(name, "lists", len(present), missing, left_out=why), None)
    counts = (present.n_unique(), missing)
    rule, remark = _rule_of(present, wishes)
    words = rule.kind == "categorical" and column.dtype == pl.String
    warning = suspect_number(column) if words else None
    wanted = name in wishes.use or name in wishes.text
    if not wanted and (reason := _reason(column, present, rule.kind)):
        what, why = reason
        return Decided(ColumnInfo(name, what, *counts, left_out=why), None, warning)
    if rule.kind == "text" and name not in wishes.text:  # --use, not --text
        rule = Rule(name, "categorical")
    return Decided(ColumnInfo(name, _KINDS[rule.kind], *counts, remark=remark), rule, warning)


def _rule_of(present: pl.Series, wishes: Wishes) -> tuple[Rule, str | None]:
    """Return the rule of a column, by the values that are not missing, and a remark about it."""
    name, kind = present.name, present.dtype
    if name in wishes.text:
        return Rule(name, "text"), None
    if kind == pl.String:
        return _of_words(present, wishes)
    if kind.is_numeric() or kind == pl.Null:
        return _of_numbers(present, wishes)
    if kind in (pl.Date, pl.Datetime):
        return Rule(name, "time", "%Y-%m-%d"), None
    numbers = {
        pl.Boolean: (BOOLEAN, "true is 1, false is 0"),
        pl.Time: (HOURS, "a time of day, in hours"),
        pl.Duration: (None, "a span, in days"),
    }
    if kind.base_type() in numbers:
        form, remark = numbers[kind.base_type()]
        return Rule(name, "numeric", form), remark
    return Rule(name, "categorical"), None


def _of_numbers(present: pl.Series, wishes: Wishes) -> tuple[Rule, str | None]:
    name = present.name
    if present.dtype.is_integer() and len(present):
        form = wishes.date_format
        if form is None or reading.find_format(present.cast(pl.String), form) != (form, None):
            form = reading.COMPACT if reading.are_compact(present) else None
        if form is not None:
            return Rule(name, "time", form), as_date(form)
        # A requested id: its numbers are names, where they come more than once.
        if name in wishes.use and _NAMED_ID.search(name) and present.n_unique() <= len(present) / 2:
            return Rule(name, "categorical"), "its numbers are names"
    remark = f"if it is a sample weight: --weight {name}" if _NAMED_WEIGHT.search(name) else None
    return Rule(name, "numeric"), remark


def _of_words(present: pl.Series, wishes: Wishes) -> tuple[Rule, str | None]:
    name = present.name
    if not len(present):
        return Rule(name, "categorical"), None
    distinct = present.unique(maintain_order=True)
    sample = distinct[:_SAMPLE]
    found = reading.find_format(distinct, wishes.date_format)
    if found is not None:
        remark = as_date(found.format)
        if found.other is not None:
            remark += f"; if the day is first: --date-format {found.other}"
        return Rule(name, "time", found.format), remark
    if all(_are_numbers(part).all() for part in (sample, distinct)):
        currency = reading.currency_of(distinct)
        amounts = None if currency is None else f"amounts in {currency}"
        if distinct.str.contains("%", literal=True).any():
            amounts = "percentages, divided by 100"
        return Rule(name, "numeric", currency=currency), amounts
    if not any(reading.read_hours(part).null_count() for part in (sample, distinct)):
        return Rule(name, "numeric", HOURS), "a time of day, in hours"
    varied = len(present) >= 3 and len(distinct) > _TEXT_UNIQUE * len(present)
    length = present.str.count_matches(r"\w+").mean() if varied else None
    is_text = isinstance(length, float) and length >= _TEXT_WORDS
    return Rule(name, "text" if is_text else "categorical"), None


def _reason(column: pl.Series, present: pl.Series, kind: Kind) -> tuple[str, str] | None:
    """Return the kind of a column that should be left out, and why; None for a feature."""
    name, levels = column.name, present.n_unique()
    takes = f"--use {name} keeps it"
    near = kind == "categorical" and len(present) > 2
    low, high = (column.min(), column.max()) if column.dtype.is_integer() else (None, None)
    whole = isinstance(low, int) and isinstance(high, int) and high - low == len(column) - 1
    found = None
    if not len(present):
        found = ("empty", "has no value")
    elif levels == 1 and len(present) == len(column):
        found = ("constant", "has the same value in every row")
    elif _NAMED_ID.search(name):
        found = ("id", f"its name looks like an id; {takes}")
    elif whole and kind == "numeric" and 2 < levels == len(column):
        found = ("id", f"consecutive numbers, different in every row; {takes}")
    elif kind == "text":
        found = ("text", f"free text; --text {name} learns from its words")
    elif near and levels > _NEAR_UNIQUE * len(present):
        share = "every" if levels == len(present) else "almost every"
        found = ("words", f"different in {share} row; {takes}")
    return found


def as_date(form: str) -> str:
    """Say by which format dates were read."""
    shown = {reading.MONTH_FIRST: "mm/dd/yyyy", reading.DAY_FIRST: "dd/mm/yyyy"}.get(form, form)
    return f"read as {shown}"


def suspect_number(column: pl.Series) -> str | None:
    """Return a warning about a column of words that are nearly all numbers, or None."""
    words = column.cast(pl.String)
    present = words.is_not_null() & (words.str.strip_chars() != "")
    sample = words.filter(present).unique(maintain_order=True)[:_SAMPLE]
    if int((_are_numbers(sample) | sample.str.contains(_COMMA)).sum()) < len(sample) / 2:
        return None  # words: most columns need no closer look
    known, commas = int(present.sum()), words.str.contains(_COMMA).fill_null(False)
    what = f"the column {short_repr(column.name)} is taken as words: "
    if known and int(commas.sum()) >= _MOST_NUMBERS * known:
        shown = words.filter(commas)[0]
        return f"{what}its numbers have a decimal comma, such as {short_repr(shown)}; write a point"
    wrong = (present & ~_are_numbers(words)).fill_null(False)
    numbers = known - int(wrong.sum())
    if numbers == known or numbers < _MOST_NUMBERS * known:
        return None
    row = wrong.arg_max() or 0
    return (
        f"{what}{numbers} of {known} values are numbers, but {short_repr(words[row])} in row "
        f"{row + 1} is not; write a number there, or nothing"
    )


def _are_numbers(words: pl.Series) -> pl.Series:
    return reading.read_numbers(words, reading.currency_of(words)).is_not_null()
