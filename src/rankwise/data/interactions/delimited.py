"""Text of a fixed number of fields a line, with the line number of what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from rankwise.data.errors import DataError

__all__ = ["Types", "read_delimited"]

Types = Mapping[str, type[pl.String] | type[pl.Float64]]

_WIDE = 80  # characters of a line that a message shows


def read_delimited(
    path: Path, separator: str, types: Types, *, skip: int = 0, layout: str, gaps: bool = False
) -> pl.DataFrame:
    """The fields of every line after the first ``skip``; :class:`DataError` names a wrong line.

    The file is read by polars; only where something is wrong is it looked through line by line.
    ``layout`` is how a line should look, for the message; with ``gaps`` a field may be empty.
    """
    try:
        frame = _read(path, separator, types, skip)
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        _complain(path, separator, types, skip=skip, layout=layout, gaps=gaps)
        raise DataError(f"{path}: cannot be read: {str(error).splitlines()[0]}") from error
    if not frame.height:
        raise DataError(f"{path}: is empty; a line is {layout}")
    numbers = [pl.col(name) for name, kind in types.items() if kind == pl.Float64]
    wrong = pl.any_horizontal(pl.all().is_null(), *(~number.is_finite() for number in numbers))
    if frame.select(wrong.any()).item():
        _complain(path, separator, types, skip=skip, layout=layout, gaps=gaps)
    return frame


def _read(path: Path, separator: str, types: Types, skip: int) -> pl.DataFrame:
    source: Path | bytes = path
    if len(separator) > 1:  # polars parts by one byte
        source = path.read_bytes().replace(separator.encode(), b"\t")
        separator = "\t"
    lines = pl.scan_csv(
        source,
        separator=separator,
        has_header=False,
        skip_rows=skip,
        new_columns=list(types),
        infer_schema=False,
        quote_char=None,
        raise_if_empty=False,
    )
    if not lines.collect_schema().names():
        return pl.DataFrame(schema=dict(types))
    if len(lines.collect_schema()) != len(types):
        raise pl.exceptions.ShapeError("another number of fields")
    typed = (pl.col(n).str.strip_chars().cast(t, strict=False) for n, t in types.items())
    return lines.select(typed).collect()


def _complain(
    path: Path, separator: str, types: Types, *, skip: int, layout: str, gaps: bool
) -> None:
    """Raise for the first line that does not fit."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            if number <= skip:
                continue
            why = _wrong(line.rstrip("\r\n").split(separator), types, gaps)
            if why:
                shown = line.strip()[:_WIDE]
                raise DataError(f"{path}: line {number}: {why}: {shown!r}; a line is {layout}")


def _wrong(fields: Sequence[str], types: Types, gaps: bool) -> str:
    if len(fields) != len(types):
        return f"{len(fields)} fields where {len(types)} belong"
    for field, (name, kind) in zip(fields, types.items(), strict=True):
        if not field.strip():
            if gaps:
                continue
            return f"{name} is empty"
        if kind == pl.Float64 and not _is_number(field):
            return f"{name} is no number"
    return ""


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False
