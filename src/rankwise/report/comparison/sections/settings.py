"""The columns with their importance, the settings of a run, and the command that repeats it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from rankwise.report import charts
from rankwise.report import elements as html
from rankwise.report import format as fmt
from rankwise.report.comparison import markup
from rankwise.report.comparison.run import Run
from rankwise.report.elements import Child, Markup, element
from rankwise.report.html import Section, Table

# Options of `rankwise compare` that repeat a run, in the order of its help.
_OPTIONS = (
    *("target", "metric", "group", "time", "weight", "positive", "drop", "use", "text"),
    *("date-format", "budget", "trials", "candidates", "repeats", "seeds", "seed"),
)
_MAX_ROWS = 12  # of a list that is shown unfolded
_MAX_COLUMNS = 15  # of a table that is shown unfolded


def setting(run: Run) -> Section:
    """Return data, settings, the parameters of every candidate, and the command."""
    asked = {key: value for key, value in run.config.items() if key not in ("command", "versions")}
    if isinstance(budget := asked.get("budget"), float):
        asked["budget"] = fmt.duration(budget)
    sizes = {key: fmt.count(v) if type(v) is int else v for key, v in run.data.items()}
    blocks = {"Data": sizes, "Settings": asked, "Versions": run.config.get("versions")}
    shown = [
        element(
            "div", element("h3", title), _list({k.replace("_", " "): v for k, v in each.items()})
        )
        for title, each in blocks.items()
        if each and isinstance(each, Mapping)
    ]
    params = [
        html.details(each.title, _list(each.params)) for each in run.candidates if each.params
    ]
    body: list[Child] = [element("div", shown, class_="blocks")]
    if params:
        body += [element("h3", "Chosen parameters"), params]
    if command := command_of(run.config):
        code = element("pre", element("code", command, id="command"), tabindex=0)
        copy = element("button", "Copy", type="button", class_="quiet-button", data_copy="command")
        body += [element("h3", "Run it again"), element("div", code, copy, class_="command")]
    return Section("Settings", body=body, folded=True)


def command_of(config: Mapping[str, object]) -> str:
    """Return the command that repeats a run, put together from its settings."""
    data = config.get("data")
    if not isinstance(data, str):
        return ""
    words = ["rankwise", "compare", data]
    for option in _OPTIONS:
        value = config.get(option.replace("-", "_"))
        if option == "budget" and isinstance(value, float):
            value = f"{value:g}s"
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, (str, int, float)):
                words += [f"--{option}", str(each)]
    return shlex.join(words)


def _list(values: Mapping[str, object], *, folds: bool = False) -> Markup:
    """Return names and values; a long list inside another is folded."""
    rows = [element("div", element("dt", k), element("dd", _value(v))) for k, v in values.items()]
    made = element("dl", rows, class_="facts")
    if folds and len(rows) > _MAX_ROWS:
        return html.details(f"{fmt.count(len(rows))} values", made)
    return made


def _value(value: object) -> Child:
    """Return any JSON value as a reader expects it."""
    if isinstance(value, Mapping) and value:
        return _list(value, folds=True)
    if isinstance(value, list) and value:
        return [[", " if n else "", _value(each)] for n, each in enumerate(value)]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return "none" if value in (None, {}, []) else str(value)


def importance(run: Run) -> Section | None:
    """Return a table of columns with intervals on a shared scale; None in an older run."""
    found = run.importance
    if found is None:
        return None
    scale = [0.0, *charts.known_values(found.columns)]
    color = markup.color_class(run, run.recommended)
    rows = []
    for each in found.columns:
        interval = charts.interval(each, scale, 0.0, color, written=fmt.signed, wide=True)
        rows.append([each.name, element("strong", fmt.signed(each.value)), interval])
    tables = [
        Table(["Column", "Loss", "95\u202f% interval"], some).render()
        for some in (rows[:_MAX_COLUMNS], rows[_MAX_COLUMNS:])
    ]
    some = found.rows < found.of_rows
    part = f"{fmt.count(found.rows)} of the {fmt.count(found.of_rows)} rows of " if some else ""
    body: list[Child] = [
        html.note(
            f"The loss in {fmt.full_name(run.metric)} of the model ",
            element("strong", run.recommended.title),
            f" on {part}{found.part} when the values of one column are shuffled: mean of "
            f"{fmt.count(found.repeats)} shuffles with its 95\u202f% interval. Columns with the "
            "same information stand in for each other: either alone may look unimportant.",
        ),
        tables[0],
    ]
    if (rest := len(rows) - _MAX_COLUMNS) > 0:
        body.append(html.details(f"{fmt.count(rest)} more columns", tables[1]))
    if left := (found.of_columns or len(rows)) - len(rows):
        words = f"{fmt.count(left)} columns less related to the scores were not measured."
        body.append(html.note(words))
    return Section("What drives the scores", body=body, anchor="importance")


def columns(run: Run) -> Section | None:
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
    made = Table(["Column", "Type", "Values", "Missing", "Remark"], rows, caption).render()
    body = made if len(rows) <= _MAX_COLUMNS else html.details(caption, made)
    return Section("Columns", body=body)
