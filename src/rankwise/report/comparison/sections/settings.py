"""The data, settings and versions of a run, and the command that repeats it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from rankwise.report.comparison.format import count, duration
from rankwise.report.comparison.markup import Section, details
from rankwise.report.comparison.run import Run
from rankwise.report.html import Child, Markup, element

# Options of `rankwise compare` that repeat a run, in the order of its help.
_OPTIONS = (
    *("target", "metric", "group", "time", "weight", "positive", "drop", "use", "text"),
    *("date-format", "budget", "trials", "candidates", "repeats", "seeds", "seed"),
)
_MAX_ROWS = 12  # of a list that is shown unfolded


def setting(run: Run) -> Section:
    """Return data, settings, the parameters of every candidate, and the command."""
    asked = {key: value for key, value in run.config.items() if key not in ("command", "versions")}
    if isinstance(budget := asked.get("budget"), float):
        asked["budget"] = duration(budget)
    versions = run.config.get("versions")
    sizes = {key: count(v) if type(v) is int else v for key, v in run.data.items()}
    blocks = {
        "Data": sizes,
        "Settings": asked,
        "Versions": versions if isinstance(versions, Mapping) else {},
    }
    shown = [
        element("div", element("h3", title), _list(_spaced(values)))
        for title, values in blocks.items()
        if values
    ]
    params = [details(each.name, _list(each.params)) for each in run.candidates if each.params]
    body: list[Child] = [element("div", shown, class_="blocks")]
    if params:
        body += [element("h3", "Chosen parameters"), params]
    if command := command_of(run.config):
        code = element("pre", element("code", command, id="command"), tabindex=0)
        copy = element("button", "Copy", type="button", class_="quiet-button", data_copy="command")
        body += [element("h3", "Run it again"), element("div", code, copy, class_="command")]
    return Section("setting", "Settings", body)


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


def _spaced(values: Mapping[str, object]) -> dict[str, object]:
    return {key.replace("_", " "): value for key, value in values.items()}


def _list(values: Mapping[str, object], *, folds: bool = False) -> Markup:
    """Return names and values; a long list inside another is folded."""
    rows = [
        element("div", element("dt", key), element("dd", _value(value)))
        for key, value in values.items()
    ]
    made = element("dl", rows, class_="facts")
    return details(f"{count(len(rows))} values", made) if folds and len(rows) > _MAX_ROWS else made


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
