"""Columns of a file, and rules to read them: decided once, kept with the model, used again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

import polars as pl

from rankwise.errors import short_repr

_CURRENCY = r"(?:US|CA|AU|NZ|HK|[ACR])?\$|[€£¥₹₽₩₺₴₪฿]|USD|EUR|GBP|JPY|CHF|INR|CNY|CAD|AUD"
_DIGITS = r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?|\d{1,3}(?:[ '’]\d{3})+(?:\.\d*)?|\d+\.?\d*|\.\d+"
_NUMBER = (
    rf"^(?P<open>\()?\s*(?P<minus>[+-])?\s*(?P<before>{_CURRENCY})?\s*(?P<inner>[+-])?"
    rf"(?P<digits>{_DIGITS})(?P<power>[eE][+-]?\d+)?\s*(?P<percent>%)?\s*"
    rf"(?P<after>{_CURRENCY})?\s*(?P<close>\))?$"
)

_MINUS = "[\u2212\ufe63\uff0d]"

MONTH_FIRST, DAY_FIRST, COMPACT = "%m/%d/%Y", "%d/%m/%Y", "%Y%m%d"
_OTHER_ORDER = {MONTH_FIRST: DAY_FIRST, "%m-%d-%Y": "%d-%m-%Y"}
_DATES: tuple[str, ...] = ("%Y-%m-%d", "%Y/%m/%d", MONTH_FIRST, DAY_FIRST, "%m-%d-%Y", "%d-%m-%Y")
_DATES += ("%d.%m.%Y", "%d %B %Y", "%d-%B-%Y", "%B %d, %Y", "%B %d %Y", COMPACT, "%Y-%m")
_TIMES: tuple[str, ...] = ("", " %H:%M", " %H:%M:%S%.f", "T%H:%M", "T%H:%M:%S%.f", " %I:%M %p")
_TIMES += (" %I:%M:%S %p", ", %H:%M:%S%.f", "T%H:%M:%S%.f%z", " %H:%M:%S%.f%z")
_YEARS = r"\d{4}"
_SAMPLE = 100  # values that rule out most formats


def has_value(column: pl.Series) -> pl.Series:
    """Return for every row whether its value is present."""
    there = column.is_not_null()
    return there & ~column.is_nan().fill_null(True) if column.dtype.is_float() else there


def read_numbers(words: pl.Series, currency: str | None = None) -> pl.Series:
    """Read words as float64, such as ``2,231.55``, ``$6.06``, ``39.0%``, ``(1,234.50)``.

    Thousands may be separated by commas, spaces or apostrophes. A percent sign divides by 100, and
    parentheses are a minus, as in accounting. Other words are null, and so are numbers with
    another currency than ``currency``: amounts of different currencies must not be compared.
    """
    plain = words.str.strip_chars().cast(pl.Float64, strict=False)
    if plain.null_count() == words.null_count():
        return plain
    sign = pl.col("minus").fill_null("") + pl.col("inner").fill_null("")
    negative = sign.str.contains("-", literal=True) | pl.col("open").is_not_null()
    digits = pl.col("digits").str.replace_all(r"[, '’]", "") + pl.col("power").fill_null("")
    value = digits.cast(pl.Float64, strict=False)
    value = pl.when(pl.col("percent").is_not_null()).then(value / 100).otherwise(value)
    known = pl.col("currency").is_null()
    if currency is not None:
        known |= pl.col("currency") == currency
    whole = (
        known
        & (pl.col("open").is_null() == pl.col("close").is_null())
        & (sign.str.len_chars() + pl.col("open").is_not_null().cast(pl.UInt32) <= 1)
        & (pl.col("before").is_null() | pl.col("after").is_null())
    )
    read = _number_parts(words).select(
        pl.when(whole).then(pl.when(negative).then(-value).otherwise(value))
    )
    return pl.Series(words.name, plain.fill_null(read.to_series()))


def currency_of(words: pl.Series) -> str | None:
    """Return the most frequent currency of the words; None where there is none."""
    counts = _number_parts(words)["currency"].drop_nulls().value_counts(sort=True)
    return str(counts["currency"][0]) if len(counts) else None


def _number_parts(words: pl.Series) -> pl.DataFrame:
    tidy = words.str.replace_all(r"\s+", " ").str.strip_chars().str.replace_all(_MINUS, "-")
    parts = tidy.str.extract_groups(_NUMBER).struct.unnest()
    return parts.with_columns(currency=pl.coalesce("before", "after"))


class DateFormat(NamedTuple):
    """A format that reads every value; ``other`` does so with day and month swapped."""

    format: str
    other: str | None = None


def find_format(words: pl.Series, given: str | None = None) -> DateFormat | None:
    """Return the date format of a column of words; None where no format reads every value.

    ``given`` is tried first. Where all days are at most 12, month and day cannot be distinguished:
    ``other`` then is the format with the day first.
    """
    present = words.drop_nulls().unique(maintain_order=True)
    if not len(present):
        return None
    if given is not None and _reads(present, given):
        return DateFormat(given)
    if not bool(present[:_SAMPLE].str.contains(_YEARS).all()):
        return None
    form = next((form for form in _DATES if _reads(present, form)), None)
    if form is None:
        return None
    other = _OTHER_ORDER.get(form)
    if other is None or not _reads(present, other):
        return DateFormat(form)
    same = read_dates(present, form).equals(read_dates(present, other))  # 03/03/2023 and the like
    return DateFormat(form, None if same else other)


def are_compact(integers: pl.Series) -> bool:
    """Return whether all whole numbers are dates such as 20230125."""
    low, high = integers.min(), integers.max()
    if not (isinstance(low, int) and isinstance(high, int)):
        return False
    return 19_000_101 <= low <= high <= 20_991_231 and _reads(
        integers.drop_nulls().unique().cast(pl.String), COMPACT
    )


def nearest_format(words: pl.Series) -> str:
    """Return the format that reads the most values, for an error about the others."""
    present = words.drop_nulls()
    return max(_DATES, key=lambda form: read_dates(present, form).is_not_null().sum())


def read_dates(words: pl.Series, form: str) -> pl.Series:
    """Read words as datetimes in UTC by a strftime format; other words are null.

    A format without a time of day also reads words with one, such as ``10:30``, ``10:30:05.2``,
    ``10:30 PM`` and ``T10:30:05Z``. One without a day means the first of the month.
    """
    text = words.cast(pl.String).str.strip_chars()
    if form == COMPACT:
        text = pl.select(pl.when(text.str.contains(r"^(19|20)\d{6}")).then(text)).to_series()
    times: tuple[str, ...] = ("",)
    if not re.search(r"%[-_0]?[djexDFcs]", form):
        text, form = text + " 01", form + " %d"
    elif not re.search(r"%[-_0]?[HIkTRrcsMlX]", form):
        times = _TIMES
    found = pl.Series(words.name, [None] * len(words), dtype=pl.Datetime("us"))
    for time in times:
        if found.null_count() == words.null_count():
            break
        zoned = "%z" in form + time
        given = text.str.replace(r"[zZ]$", "+00:00") if zoned else text
        read = given.str.to_datetime(form + time, strict=False, time_unit="us")
        found = found.fill_null(in_utc(read))
    # A year of two digits is not of the first century: 01/02/23.
    frame = found.to_frame("found")
    return frame.select(pl.when(pl.col("found").dt.year() >= 1000).then("found")).to_series()


def in_utc(times: pl.Series) -> pl.Series:
    """Convert dates or datetimes to datetimes in UTC, in microseconds, without a time zone."""
    if getattr(times.dtype, "time_zone", None):
        times = times.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return times.cast(pl.Datetime("us"))


def read_hours(words: pl.Series) -> pl.Series:
    """Read times of day such as ``9:05`` and ``21:30:10`` as hours; other words are null."""
    text = words.cast(pl.String).str.strip_chars()
    found = text.str.to_time("%H:%M", strict=False)
    found = found.fill_null(text.str.to_time("%H:%M:%S%.f", strict=False))
    return found.cast(pl.Int64) / 3.6e12


def _reads(present: pl.Series, form: str) -> bool:
    parts = (present[:_SAMPLE], present[_SAMPLE:])
    return not any(read_dates(part, form).null_count() for part in parts)


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
        return has_value(column) & self._read(column).is_null()

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
            return read_hours(words)
        if self.format == BOOLEAN:
            truth = words.str.strip_chars().str.to_lowercase()
            known = truth.replace_strict({"true": 1.0, "false": 0.0}, default=None)
            return known.cast(pl.Float64).fill_null(read_numbers(words))
        return read_numbers(words, self.currency).fill_nan(None)

    def _times(self, column: pl.Series) -> pl.Series:
        if column.dtype in (pl.Date, pl.Datetime):
            return in_utc(column)
        words, form = _words(column), self.format
        if form is None and (found := find_format(words)) is not None:
            form = found.format
        if form is None:
            return pl.Series(column.name, [None] * len(column), dtype=pl.Datetime("us"))
        return read_dates(words, form)


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
                    f"column {short_repr(rule.name)}: {wrong.sum()} of {len(column)} values cannot "
                    f"be read as {what}{form}, as in training, such as "
                    f"{short_repr(str(column[row]))} in row {row + 1}; they count as missing"
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
