"""Columns of words that look like numbers with a slip of the pen in them."""

from __future__ import annotations

import polars as pl

from rankwise.data.numbers import currency_of, numbers_in

__all__ = ["first_word", "slip_in"]

_MOST = 0.8  # of the values are numbers: codes such as 12 and 12A seldom reach it
_SAMPLE = 100
_COMMA = r"^\s*[+-]?\d+,\d+\s*$"


def slip_in(column: pl.Series) -> str | None:
    """What to tell the reader of a column that is taken as words, None if nothing is odd."""
    words = column.cast(pl.String)
    present = words.is_not_null() & (words.str.strip_chars() != "")
    known = int(present.sum())
    sample = words.filter(present).unique(maintain_order=True)[:_SAMPLE]
    odd = ~_is_no_number(sample) | sample.str.contains(_COMMA)
    if int(odd.sum()) < len(sample) / 2:  # plainly words: most columns need no closer look
        return None
    commas = int(words.str.contains(_COMMA).sum())
    if known and commas >= _MOST * known:
        sample = words.filter(words.str.contains(_COMMA).fill_null(False))[0]
        return (
            f"the column {column.name!r} is taken as words: its numbers have a decimal comma, "
            f"such as {sample!r}; write a point"
        )
    numbers = known - int((present & _is_no_number(words)).sum())
    if numbers == known or numbers < _MOST * known:
        return None
    value, row = first_word(column)
    return (
        f"the column {column.name!r} is taken as words: {numbers} of {known} values are numbers, "
        f"but {value!r} in row {row} is not; write a number there, or nothing"
    )


def first_word(column: pl.Series) -> tuple[str, int]:
    """The first value that is no number, and its row, counted from 1."""
    words = column.cast(pl.String)
    wrong = (_is_no_number(words) & (words.str.strip_chars() != "")).fill_null(False)
    row = wrong.arg_max() or 0
    return str(words[row]), row + 1


def _is_no_number(words: pl.Series) -> pl.Series:
    return numbers_in(words, currency_of(words)).is_null()
