"""What was run, so that it can be run again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from rankwise.report.comparison.format import count, duration
from rankwise.report.comparison.markup import Child, Markup, Part, element
from rankwise.report.comparison.run import Run

__all__ = [
    "command_of",
    "setting",
]

# Options of `rankwise compare` that repeat a run, in the order of its help.
_OPTIONS = (
    "target",
    "metric",
    "group",
    "time",
    "weight",
    "positive",
    "drop",
    "use",
    "text",
    "date-format",
    "budget",
    "trials",
    "candidates",
    "repeats",
    "seeds",
    "seed",
)
_MANY = 12  # facts that are shown without being asked for


def setting(run: Run) -> Part:
    """Data, what was asked, the parameters of every candidate, and the command."""
    asked = {key: value for key, value in run.config.items() if key not in ("command", "versions")}
    if isinstance(asked.get("budget"), float):
        asked["budget"] = duration(asked["budget"])
    versions = run.config.get("versions")
    sizes = {key: count(v) if type(v) is int else v for key, v in run.data.items()}
    blocks = [_block("Data", sizes), _block("Asked for", asked)]
    if isinstance(versions, Mapping):
        blocks.append(_block("Versions", versions))
    params = [
        element("details", element("summary", each.name), _list(each.params))
        for each in run.candidates
        if each.params
    ]
    command = command_of(run.config)
    body = [
        element("div", blocks, class_="blocks"),
        [element("h3", "Chosen parameters"), params] if params else None,
        [element("h3", "Run it again"), _command(command)] if command else None,
    ]
    return Part("setting", "What was run", body)


def command_of(config: Mapping[str, object]) -> str:
    """The command that repeats a run, put together from what was asked for."""
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


def _command(command: str) -> Markup:
    code = element("code", command, id="command")
    copy = element("button", "Copy", type="button", class_="quiet-button", data_copy="command")
    return element("div", element("pre", code, tabindex=0), copy, class_="command")


def _block(title: str, values: Mapping[str, object]) -> Markup | None:
    named = {key.replace("_", " "): value for key, value in values.items()}
    return element("div", element("h3", title), _list(named)) if named else None


def _list(values: Mapping[str, object], *, folds: bool = False) -> Markup:
    """Names and values; a long list inside another is folded."""
    rows = [
        element("div", element("dt", key), element("dd", _value(value)))
        for key, value in values.items()
    ]
    made = element("dl", rows, class_="facts")
    if len(rows) <= _MANY or not folds:
        return made
    return element("details", element("summary", f"{count(len(rows))} of them"), made)


def _value(value: object) -> Child:
    """Anything JSON can hold, in words."""
    if isinstance(value, Mapping) and value:
        return _list(value, folds=True)
    if isinstance(value, list) and value:
        return [[", " if n else "", _value(each)] for n, each in enumerate(value)]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return "none" if value in (None, {}, []) else str(value)
