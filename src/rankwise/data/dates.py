"""Dates by explicit formats, and which format a column has."""

from __future__ import annotations

import re
from dataclasses import dataclass

import polars as pl

__all__ = [
    "COMPACT",
    "DAY_FIRST",
    "MONTH_FIRST",
    "DateFormat",
    "are_compact",
    "find_format",
    "nearest_format",
    "read_dates",
    "read_hours",
]

MONTH_FIRST, DAY_FIRST = "%m/%d/%Y", "%d/%m/%Y"
COMPACT = "%Y%m%d"
_FORMATS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    MONTH_FIRST,
    DAY_FIRST,
    "%m-%d-%Y",
    "%d-%m-%Y",
    "%d.%m.%Y",
    "%d %B %Y",
    "%d-%B-%Y",
    "%B %d, %Y",
    "%B %d %Y",
    COMPACT,
    "%Y-%m",
)
_OTHER_ORDER = {MONTH_FIRST: DAY_FIRST, "%m-%d-%Y": "%d-%m-%Y"}
_TIMES = (
    "",
    " %H:%M",
    " %H:%M:%S%.f",
    "T%H:%M",
    "T%H:%M:%S%.f",
    " %I:%M %p",
    " %I:%M:%S %p",
    ", %H:%M:%S%.f",
    "T%H:%M:%S%.f%z",
    " %H:%M:%S%.f%z",
)
_YEARS = r"\d{4}"
_SAMPLE = 100  # values that rule out most formats


@dataclass(frozen=True)
class DateFormat:
    """A format that reads every value; ``other`` does so with day and month swapped."""

    format: str
    other: str | None = None


def find_format(words: pl.Series, given: str | None = None) -> DateFormat | None:
    """The format of a column of words; None where no format reads every value.

    ``given`` is tried first. Where all days are at most 12, month and day cannot be told apart:
    ``other`` then is the format with the day first.
    """
    present = words.drop_nulls().unique(maintain_order=True)
    if not len(present):
        return None
    if given is not None and _reads(present, given):
        return DateFormat(given)
    if not bool(present[:_SAMPLE].str.contains(_YEARS).all()):
        return None
    for form in _FORMATS:
        if not _reads(present, form):
            continue
        other = _OTHER_ORDER.get(form)
        ambiguous = other is not None and _reads(present, other)
        if ambiguous and read_dates(present, form).equals(read_dates(present, other or "")):
            ambiguous = False  # 03/03/2023 and the like: both orders say the same
        return DateFormat(form, other if ambiguous else None)
    return None


def are_compact(integers: pl.Series) -> bool:
    """Whether whole numbers are plainly dates such as 20230125: every one of them is a day."""
    low, high = integers.min(), integers.max()
    if not (isinstance(low, int) and isinstance(high, int)):
        return False
    return 19_000_101 <= low <= high <= 20_991_231 and _reads(
        integers.drop_nulls().unique().cast(pl.String), COMPACT
    )


def nearest_format(words: pl.Series) -> str:
    """The format that reads the most values, to say which it does not read."""
    present = words.drop_nulls()
    return max(_FORMATS, key=lambda form: read_dates(present, form).is_not_null().sum())


def read_dates(words: pl.Series, form: str) -> pl.Series:
    """Datetimes in UTC by a strftime format; null where a word is none.

    A format without a time of day also reads words with one, such as ``10:30``, ``10:30:05.2``,
    ``10:30 PM`` and ``T10:30:05Z``. One without a day means the first of the month.
    """
    text = words.cast(pl.String).str.strip_chars()
    if form == COMPACT:
        text = pl.select(pl.when(text.str.contains(r"^(19|20)\d{6}")).then(text)).to_series()
    if not re.search(r"%[-_0]?[djexDFcs]", form):
        text, form = text + " 01", form + " %d"
        times: tuple[str, ...] = ("",)
    else:
        times = ("",) if re.search(r"%[-_0]?[HIkTRrcsMlX]", form) else _TIMES
    found = pl.Series(words.name, [None] * len(words), dtype=pl.Datetime("us"))
    for time in times:
        if found.null_count() == words.null_count():
            break
        zoned = time.endswith("%z") or "%z" in form
        given = text.str.replace(r"[zZ]$", "+00:00") if zoned else text
        read = given.str.to_datetime(form + time, strict=False, time_unit="us")
        if read.dtype.time_zone is not None:  # type: ignore[attr-defined]
            read = read.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        found = found.fill_null(read)
    # Two digits are no year of four: 01/02/23 is not of the first century.
    frame = found.to_frame("found")
    return frame.select(pl.when(pl.col("found").dt.year() >= 1000).then("found")).to_series()


def read_hours(words: pl.Series) -> pl.Series:
    """Times of day such as ``9:05`` and ``21:30:10`` as hours; null where a word is none."""
    text = words.cast(pl.String).str.strip_chars()
    found = text.str.to_time("%H:%M", strict=False)
    found = found.fill_null(text.str.to_time("%H:%M:%S%.f", strict=False))
    return found.cast(pl.Int64) / 3.6e12


def _reads(present: pl.Series, form: str) -> bool:
    for part in (present[:_SAMPLE], present[_SAMPLE:]):
        if read_dates(part, form).null_count():
            return False
    return True
