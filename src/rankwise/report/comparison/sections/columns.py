"""The importance of the columns for the recommended model, and how each column was read."""

from __future__ import annotations

from collections.abc import Sequence

from rankwise.report.comparison import charts
from rankwise.report.comparison import format as fmt
from rankwise.report.comparison import markup as html
from rankwise.report.comparison.run import Column, Run
from rankwise.report.html import Child, Markup, element

_MAX_ROWS = 15  # of a table that is shown unfolded
_WIDTH = 180


def importance(run: Run) -> html.Section | None:
    """Return a table of columns with intervals on a shared scale; None in an older run."""
    found = run.importance
    if found is None:
        return None
    known = [0.0, *charts.known_values(found.columns)]
    classes = f"wide {html.color_class(run, run.recommended)}"

    def row(each: Column) -> list[Child]:
        interval: Child = fmt.NOTHING
        if each.has_interval and min(known) < max(known):
            image = charts.forest(
                each, min(known), max(known), reference=0.0, class_=classes, width=_WIDTH
            )
            ends = fmt.between(each, fmt.signed, dash=" – ")
            interval = [image, element("span", ends, class_="range wide")]
        return [each.name, element("strong", fmt.signed(each.value)), interval]

    rows = [row(each) for each in found.columns]
    some = found.rows < found.of_rows
    part = f"{fmt.count(found.rows)} of the {fmt.count(found.of_rows)} rows of " if some else ""
    body: list[Child] = [
        html.note(
            f"The loss in {fmt.full_name(run.metric)} of the model ",
            element("strong", run.recommended.name),
            f" on {part}{found.part} when the values of one column are shuffled: mean of "
            f"{fmt.count(found.repeats)} shuffles with its 95\u202f% interval. Columns with the "
            "same information stand in for each other: either alone may look unimportant.",
        ),
        _importance_table(rows[:_MAX_ROWS]),
    ]
    if rest := rows[_MAX_ROWS:]:
        body.append(html.details(f"{fmt.count(len(rest))} more columns", _importance_table(rest)))
    if left := (found.of_columns or len(rows)) - len(rows):
        body.append(
            html.note(f"{fmt.count(left)} columns less related to the scores were not measured.")
        )
    return html.Section("importance", "What drives the scores", body)


def _importance_table(rows: Sequence[Sequence[Child]]) -> Markup:
    return html.table("", ["Column", "Loss", "95\u202f% interval"], rows)


def columns(run: Run) -> html.Section | None:
    """Return a table of the columns; None where the run kept none."""
    if not run.columns:
        return None
    rows = []
    for each in run.columns:
        counts = [each.get("levels"), each.get("missing")]
        left_out = each.get("left_out")
        remark = f"left out: {left_out}" if left_out else str(each.get("remark") or "")
        numbers = [fmt.count(n) if isinstance(n, int) else "" for n in counts]
        rows.append([str(each.get("name", "")), str(each.get("taken_for", "")), *numbers, remark])
    left_out = sum(bool(each.get("left_out")) for each in run.columns)
    caption = f"{fmt.counted(len(rows), 'column')} of the data, {fmt.count(left_out)} left out"
    made = html.table(caption, ["Column", "Type", "Levels", "Missing", "Remark"], rows)
    return html.Section(
        "columns", "Columns", made if len(rows) <= _MAX_ROWS else html.details(caption, made)
    )
