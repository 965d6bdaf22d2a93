"""The preparation of columns in ONNX: numbers, words and dates become one matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankwise.errors import UsageError
from rankwise.serving.onnx.graph import DOUBLE, INT64, ML, STRING, Graph
from rankwise.serving.preparation import Preparation
from rankwise.serving.rules import Category, Number, Time

MATRIX = "X"
"""Name of the only input, where the columns have no names and hold numbers."""

_DAY_US, _HOUR_US = 86_400_000_000, 3.6e9
_MISSING_TIME = np.iinfo(np.int64).min  # what numpy's NaT is as an integer


def add_inputs(graph: Graph, preparation: Preparation, names: Sequence[str] | None) -> list[str]:
    """Add the inputs of a model: a matrix, or one input for every column.

    A column of numbers is double, of words string (``""`` for missing), of dates int64:
    microseconds since 1970 in UTC, and numpy's NaT for missing.
    """
    rules = preparation.columns
    if names is None and all(isinstance(rule, Number) for rule in rules):
        matrix = graph.input(MATRIX, DOUBLE, len(rules))
        return [graph.columns(matrix, [place]) for place in range(len(rules))]
    found = []
    for name, rule in zip(preparation.inputs, rules, strict=True):
        kind = {Number: DOUBLE, Category: STRING, Time: INT64}.get(type(rule))
        if kind is None:
            raise UsageError(
                f"column {name!r} is free text, which ONNX cannot split into terms; score with "
                "rankwise.serving.load_scorer, or fit the model without the column"
            )
        found.append(graph.input(name, kind, 1))
    return found


def prepared(graph: Graph, preparation: Preparation, inputs: Sequence[str]) -> str:
    """Return the prepared matrix of a model, (rows, prepared columns)."""
    parts = []
    for rule, value in zip(preparation.columns, inputs, strict=True):
        if isinstance(rule, Number):
            gone = graph.op("IsNaN", value)
            parts += _filled(graph, [value], gone, (rule.fill,), marked=rule.marked)
        elif isinstance(rule, Category):
            parts += _category(graph, rule, value)
        else:
            assert isinstance(rule, Time)
            gone = graph.op("Equal", value, graph.constant(_MISSING_TIME, np.int64))
            made = _parts(graph, value, gone)
            parts += _filled(
                graph, [made[name] for name in rule.parts], gone, rule.fills, marked=rule.marked
            )
    return graph.concat(parts)


def _filled(
    graph: Graph, values: list[str], gone: str, fills: Sequence[float | None], *, marked: bool
) -> list[str]:
    plain = [np.nan if fill is None else fill for fill in fills]
    found = [
        graph.op("Where", gone, graph.constant(fill), value)
        for value, fill in zip(values, plain, strict=True)
    ]
    return [found[0], graph.cast(gone), *found[1:]] if marked else found


def _category(graph: Graph, rule: Category, value: str) -> list[str]:
    levels = list(rule.levels)
    codes = graph.op(
        "LabelEncoder",
        value,
        domain=ML,
        keys_strings=[*levels, ""],  # "" is missing, and no level
        values_int64s=[*range(len(levels)), -1],
        default_int64=-1,
    )
    if rule.indicators:
        if not levels:
            return []
        each = graph.constant(np.arange(len(levels))[None], np.int64)
        return [graph.cast(graph.op("Equal", codes, each))]
    unknown = graph.op("Less", codes, graph.constant(0, np.int64))
    return [graph.op("Where", unknown, graph.constant(np.nan), graph.cast(codes))]


def _parts(graph: Graph, value: str, gone: str) -> dict[str, str]:
    """Return the parts of a date; month and day by the proleptic Gregorian calendar.

    The calendar is counted in eras of 400 years that begin on the first of March, so that a leap
    day is the last of its year: all the divisions are of numbers that are not negative.
    """

    def whole(number: int) -> str:
        return graph.constant(number, np.int64)

    def div(dividend: str, divisor: int) -> str:
        return graph.op("Div", dividend, whole(divisor))

    def sub(first: str, *others: str) -> str:
        for other in others:
            first = graph.op("Sub", first, other)
        return first

    def times(number: int, factor: str) -> str:
        return graph.op("Mul", factor, whole(number))

    def add(first: str, second: str) -> str:
        return graph.op("Add", first, second)

    since = graph.op("Where", gone, whole(0), value)
    of_day = graph.op("Mod", since, whole(_DAY_US))  # not negative, as Python's
    days = div(sub(since, of_day), _DAY_US)
    shifted = add(days, whole(719_468))  # since the first of March of the year 0
    of_era = graph.op("Mod", shifted, whole(146_097))
    leaps = sub(add(of_era, div(of_era, 36_524)), div(of_era, 1460), div(of_era, 146_096))
    year = div(leaps, 365)
    of_year = sub(of_era, times(365, year), sub(div(year, 4), div(year, 100)))
    month = div(add(times(5, of_year), whole(2)), 153)  # 0 is March
    month_day = add(sub(of_year, div(add(times(153, month), whole(2)), 5)), whole(1))
    calendar = add(graph.op("Mod", add(month, whole(2)), whole(12)), whole(1))
    weekday = graph.op("Mod", add(days, whole(3)), whole(7))
    found = {"month": calendar, "monthday": month_day, "weekday": weekday}
    made = {name: graph.cast(part) for name, part in found.items()}
    made["day"] = graph.op("Div", graph.cast(since), graph.constant(float(_DAY_US)))
    made["hour"] = graph.op("Div", graph.cast(of_day), graph.constant(_HOUR_US))
    return made
