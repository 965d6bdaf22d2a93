"""What drives the scores: the columns of the chosen model by what shuffling them costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rankwise.report.comparison.format import NOTHING, count, counted, full_name, signed
from rankwise.report.comparison.markup import Child, Markup, Part, color_class, element, note, table
from rankwise.report.comparison.run import Estimate, Importance, Run

_FIRST = 15  # columns that are shown without being asked for
_WIDTH = 180


def importance(run: Run) -> Part | None:
    """A table of the columns with intervals on a scale that all share; none in an older run."""
    found = run.importance
    if found is None:
        return None
    known = [v for _, e in found.columns for v in (e.low, e.value, e.high) if not math.isnan(v)]
    low, high = min([0.0, *known]), max([0.0, *known])
    rows = [[name, _figure(each), _drawn(run, each, low, high)] for name, each in found.columns]
    metric = full_name(run.metric)
    body: list[Child] = [
        note(
            f"How much {metric} the model ",
            element("strong", run.recommended.name),
            f" loses on {_where(found)} where the values of one column are shuffled, mean of "
            f"{count(found.repeats)} shuffles with its 95\u202f% interval. Columns that say the "
            "same stand in for each other: either alone may look unimportant.",
        ),
        _table(rows[:_FIRST]),
    ]
    if rest := rows[_FIRST:]:
        more = element("summary", f"{count(len(rest))} more columns")
        body.append(element("details", more, _table(rest)))
    if left := found.of_columns - len(found.columns):
        body.append(note(f"{count(left)} columns that go less with the scores were not measured."))
    return Part("importance", "What drives the scores", body)


def _table(rows: Sequence[Sequence[Child]]) -> Markup:
    return table("", ["Column", "Loss", "95\u202f% interval"], rows)


def _where(found: Importance) -> str:
    if math.isnan(found.rows) or found.rows == found.of_rows:
        return found.part
    return f"{count(found.rows)} of the {count(found.of_rows)} rows of {found.part}"


def _figure(each: Estimate) -> Child:
    return element("strong", signed(each.value))


def _drawn(run: Run, each: Estimate, low: float, high: float) -> Child:
    """The interval, with the line where a column does not matter."""
    if not each.has_interval or low == high:
        return NOTHING

    def at(value: float) -> float:
        return round(4 + (_WIDTH - 8) * (value - low) / (high - low), 1)

    marks = [
        element("line", class_="reference", x1=at(0.0), x2=at(0.0), y1=0, y2=18),
        element("line", class_="whisker", x1=at(each.low), x2=at(each.high), y1=9, y2=9),
        element("circle", class_="dot", cx=at(each.value), cy=9, r=4),
    ]
    classes = f"forest wide {color_class(run, run.recommended)}"
    picture = element("svg", marks, class_=classes, viewBox=f"0 0 {_WIDTH} 18", aria_hidden="true")
    return [
        picture,
        element("span", f"{signed(each.low)} – {signed(each.high)}", class_="range wide"),
    ]


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
