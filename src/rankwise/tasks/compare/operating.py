"""Thresholds of a run or of scores, chosen by rules on rows that no fit has seen."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rankwise.data import DataError, Table
from rankwise.files import nan_to_none
from rankwise.metrics import Interval, OperatingPoint, choose_threshold
from rankwise.metrics._rules import Limit, require_limit
from rankwise.tasks.compare.metrics import Floats, Truth

_DAY = 86_400e6  # microseconds
RATES = ("precision", "recall", "fpr", "alert_rate")


def read_rule(rule: str, *, grouped: bool) -> Limit:
    """Parse a rule; a DataError says what is wrong with it."""
    try:
        limit = require_limit(rule)
    except ValueError as error:
        raise DataError(f"--threshold: {error}") from None
    if grouped:
        raise DataError(
            f"--threshold {rule} is for rows of one list: rows of many lists have no threshold in "
            "common; leave out --threshold or --group"
        )
    return limit


def is_daily(rule: str) -> bool:
    """Return whether a rule limits the alerts of a day."""
    limit = read_rule(rule, grouped=False)
    return limit.kind == "alerts" and limit.rows is None


def choose_points(
    rules: Sequence[str],
    values: Floats,
    truth: Truth,
    rows_per_day: float | None,
    *,
    of_run: bool = False,
) -> dict[str, OperatingPoint]:
    """Return the operating point of every rule on rows of two classes.

    ``of_run``: the rows are those of a run, and a column of dates cannot be named any more.
    """
    found = {}
    for rule in rules:
        read_rule(rule, grouped=truth.groups is not None)
        if is_daily(rule) and rows_per_day is None:
            dates = "" if of_run else ", or --time with a column of dates"
            raise DataError(
                f"--threshold {rule} needs the number of rows per day: pass --rows-per-day{dates}"
            )
        try:
            found[rule] = choose_threshold(
                values, truth.target, rule, weight=truth.weight, rows_per_day=rows_per_day
            )
        except ValueError as error:
            raise DataError(f"--threshold: {error}") from None
    return found


def daily_rows(rules: Sequence[str], table: Table, given: float | None = None) -> float | None:
    """Return the rows of a day, where a rule asks for them.

    Those given, or all rows of the table over the days from the first to the last, both counted.
    None without either; a time column of numbers that are not dates is an error.
    """
    if given is not None or table.time is None or not any(map(is_daily, rules)):
        return given
    if not table.dated:
        raise DataError(
            f"{table.path}: the time column holds numbers, not dates, and says nothing about days; "
            "pass --rows-per-day"
        )
    return rows_per_day(table)


def rows_per_day(table: Table) -> float | None:
    """Return the rows over the days from the first to the last; None without dates."""
    if table.time is None or not table.dated:
        return None
    days = np.floor(table.time / _DAY)
    return len(table) / float(days.max() - days.min() + 1)


def as_json(point: OperatingPoint, column: str) -> dict[str, object]:
    """Return the content of a JSON file; what is not defined is null."""
    rates = {name: getattr(point, name) for name in RATES}
    content = {
        "rule": point.rule,
        "column": column,
        "threshold": point.threshold,
        "supported": point.supported,
        "reason": point.reason,
        "flagged": point.flagged,
        "true_positives": point.true_positives,
        "false_positives": point.false_positives,
        "rates": {n: {"value": r.value, "low": r.low, "high": r.high} for n, r in rates.items()},
        "meaning": meaning(point),
    }
    return {name: nan_to_none(value) for name, value in content.items()}


def meaning(point: OperatingPoint) -> str:
    """Return what the rule says about new rows, in a sentence."""
    limit = require_limit(point.rule)
    if not point.supported:
        trivial = "all" if limit.kind == "recall" else "none"
        return (
            f"The rows do not support the rule: {point.reason}; {trivial} of these rows "
            f"{'are' if trivial == 'all' else 'is'} flagged, and new rows have no guarantee."
        )
    if limit.confidence is None:
        return (
            "The limit holds on the rows that chose the threshold, not necessarily on new ones: "
            f"{limit}@95% would choose one that does, with 95 % confidence."
            if limit.kind != "f1"
            else "The rows that are shown chose the threshold."
        )
    rule = str(limit).partition("@")[0]
    sure = f"{100 * limit.confidence:g} %"
    return f"{rule} holds with {sure} confidence on new rows like these."


HEADER = ("rule", "above", "flagged", "rate", "value", "95 % interval")
_SHOWN = {"precision": "precision", "recall": "recall", "fpr": "FPR"}


def lines(points: dict[str, OperatingPoint]) -> list[tuple[str, ...]]:
    """Return the rows of a table: three rates for every point, so that it fits a terminal."""
    rows: list[tuple[str, ...]] = []
    for rule, point in points.items():
        first = rule, f"{point.threshold:.6g}", f"{point.flagged:g}"
        for name, shown in _SHOWN.items():
            rows.append((*first, shown, *_rate(getattr(point, name))))
            first = "", "", ""
    return rows


def _rate(found: Interval) -> tuple[str, str]:
    if math.isnan(found.value):
        return "–", "–"
    return f"{found.value:.4f}", f"{found.low:.4f} – {found.high:.4f}"
