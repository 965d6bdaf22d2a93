"""The table of columns that ``rankwise compare`` prints before it trains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table as Shown

from rankwise.commands.console import paper
from rankwise.commands.shared import say

if TYPE_CHECKING:
    from rankwise.data.table import ColumnInfo
    from rankwise.tasks.compare.problem import Problem


_MANY = 40  # columns from which plain numbers are only counted


def show_columns(problem: Problem) -> None:
    """Print what every column was taken for, the rows left out, and the period of each part."""
    table, parts = problem.table, problem.plan.parts
    lines = []
    if table.columns:
        paper().print(_shown(table.columns))
    else:
        lines.append(
            f"{len(table.names)} columns of numbers, {table.names[0]} to {table.names[-1]}"
        )
    for name, period in parts.periods(table).items():
        lines.append(f"{name}: {len(getattr(parts, name))} rows, {problem.settings.time} {period}")
    for count, what in (
        (table.without_target, "without a target"),
        (table.without_weight, "of weight 0"),
    ):
        if count:
            lines.append(f"{count} rows {what} are left out")
    say(lines)


def _shown(columns: Sequence[ColumnInfo]) -> Shown:
    plain = [each for each in columns if each.taken_for == "number" and not each.said]
    counted = plain if len(columns) > _MANY else []
    caption = f"and {len(counted)} columns of plain numbers" if counted else None
    shown = Shown(
        title="columns of the data",
        caption=caption,
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    shown.add_column("column", overflow="fold")
    shown.add_column("taken for", no_wrap=True)
    shown.add_column("levels", justify="right", no_wrap=True)
    shown.add_column("missing", justify="right", no_wrap=True)
    shown.add_column("remark", overflow="fold")
    for each in columns:
        if each not in counted:
            style = "dim" if each.left_out else None
            cells = (each.name, each.taken_for, str(each.levels), str(each.missing), each.said)
            shown.add_row(*map(escape, cells), style=style)
    return shown
