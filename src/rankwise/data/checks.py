"""Errors about the columns of a file."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import polars as pl

from rankwise.data.errors import DataError

__all__ = ["require_columns", "require_finite"]

_SHOWN = 30  # columns that a message lists


def require_columns(path: Path, columns: Sequence[str], wanted: Sequence[str], role: str) -> None:
    """Raise where a column is not in the file, with the nearest name and those there are."""
    missing = [name for name in wanted if name not in columns]
    if not missing:
        return
    near = get_close_matches(missing[0], columns, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    shown = ", ".join(columns[:_SHOWN]) + (", …" if len(columns) > _SHOWN else "")
    raise DataError(
        f"{path}: there is no {role} column {missing[0]!r}; {hint}"
        f"the {len(columns)} columns are: {shown}"
    )


def require_finite(path: Path, frame: pl.DataFrame) -> None:
    """Raise where a number is infinite: no model can learn from it, or score it."""
    for column in frame:
        if column.dtype.is_numeric() and column.is_infinite().any():
            row = column.is_infinite().arg_max() or 0
            raise DataError(
                f"{path}: the column {column.name!r} holds {column[row]} in row {row + 1}; "
                "write a number there, or nothing"
            )
