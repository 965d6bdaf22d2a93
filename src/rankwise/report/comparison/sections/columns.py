"""What every column of the data was taken for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankwise.report.comparison.markup import element
from rankwise.report.comparison.part import Part, table
from rankwise.report.comparison.run import Run
from rankwise.report.comparison.words import count, counted

__all__ = ["columns"]

_MANY = 15  # rows of a table that is shown unfolded
_HEADER = ("Column", "Taken for", "Levels", "Missing", "Remark")


def columns(run: Run) -> Part | None:
    """A table of the columns; None where the run kept none."""
    if not run.columns:
        return None
    rows = [
        (
            str(each.get("name", "")),
            str(each.get("taken_for", "")),
            _count(each.get("levels")),
            _count(each.get("missing")),
            _remark(each),
        )
        for each in run.columns
    ]
    left_out = sum(bool(each.get("left_out")) for each in run.columns)
    caption = f"{counted(len(rows), 'column')} of the data, {count(left_out)} left out"
    made = table(caption, _HEADER, rows)
    if len(rows) > _MANY:
        made = element("details", element("summary", caption), made)
    return Part("columns", "Columns", made)


def _remark(column: Mapping[str, Any]) -> str:
    left_out = column.get("left_out")
    return f"left out: {left_out}" if left_out else str(column.get("remark") or "")


def _count(value: object) -> str:
    return count(value) if isinstance(value, int) else ""
