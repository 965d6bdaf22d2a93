"""The metric against training time: at the end, and while the candidates were tuned."""

from __future__ import annotations

import math

from rankwise.report.comparison import charts
from rankwise.report.comparison import format as fmt
from rankwise.report.comparison import markup as html
from rankwise.report.comparison.run import Candidate, Run
from rankwise.report.html import Markup

# Seconds that are round to a reader of clocks; the finer ones where few of these fit.
_COARSE = (0.01, 0.1, 1, 10, 60, 600, 3600, 36000)
_ROUND = (*_COARSE, 0.03, 0.3, 3, 30, 120, 300, 1800, 7200, 18000, 86400)
_FINE = (
    *(*_ROUND, 0.02, 0.05, 0.2, 0.5, 2, 4, 5, 6, 8, 15, 20, 40, 90, 180, 240, 900, 1200),
    *(10800, 14400, 21600, 28800, 43200, 172800),
)


def time(run: Run) -> html.Section | None:
    """Return the charts of the metric and of the tuning against time."""
    figures = [each for each in (_final(run), _tuning(run)) if each]
    if not figures:
        return None
    return html.Section("time", "Time", [html.legend(run, run.candidates), html.pair(figures)])


def _final(run: Run) -> Markup | None:
    timed = [c for c in run.candidates if c.seconds > 0 and not math.isnan(c.test.value)]
    if not timed:
        return None
    seconds = [each.seconds for each in timed]
    frame = charts.Frame(
        _clock("training time", min(seconds) / 1.4, max(seconds) * 1.4),
        charts.linear_axis(
            fmt.full_name(run.metric),
            *charts.padded(charts.known_values(each.test for each in timed)),
        ),
    )
    points = []
    for each in timed:
        test = each.test
        title = f"{each.name}: {fmt.decimal(test.value)} in {fmt.duration(each.seconds)}"
        bar = (
            charts.whisker(frame, each.seconds, test.low, test.high) if test.has_interval else None
        )
        points.append(
            html.series(run, each, bar, charts.dot(frame, each.seconds, test.value, 6.0, title))
        )
    label = f"{fmt.capitalized(fmt.full_name(run.metric))} against training time"
    caption = "Test value with its 95\u202f% interval against time. Up and to the left is better."
    return html.figure(frame.render(points, label=label), caption)


def _tuning(run: Run) -> Markup | None:
    paths = {each.number: _changes(each) for each in run.candidates}
    points = [point for path in paths.values() for point in path]
    if not points:
        return None
    times = [seconds for seconds, _ in points]
    start = max(min(times), 0.01)
    frame = charts.Frame(
        _clock("time spent on tuning", start, max(start, *times)),
        charts.linear_axis("best validation value", *charts.padded([value for _, value in points])),
    )
    drawn = [
        html.series(run, each, charts.steps(frame, path, path[-1][0]))
        for each in run.candidates
        if (path := paths[each.number])
    ]
    caption = "The best validation value so far while each candidate was tuned."
    return html.figure(frame.render(drawn, label=caption), caption)


def _changes(each: Candidate) -> list[tuple[float, float]]:
    """Return the points of a curve where it changes, at most about 190 of them."""
    path = [point for point in each.curve if not any(map(math.isnan, point))]
    changes = [p for n, p in enumerate(path) if n == 0 or p[1] != path[n - 1][1]]
    last = path[-1:] if path and path[-1] != changes[-1] else []
    every = max(1, math.ceil(len(changes) / 190))
    return changes[:-1:every] + changes[-1:] + last


def _clock(title: str, low: float, high: float) -> charts.Axis:
    """Return an axis of time, with the roundest ticks that are at least three."""
    spaced = [_rounded(low * (high / low) ** at) for at in (0.2, 0.5, 0.8)]
    for values in (_COARSE, _ROUND, _FINE, spaced):
        axis = charts.log_axis(title, low, high, values, _short)
        if len(axis.ticks) >= 3:
            break
    return axis


def _rounded(seconds: float) -> float:
    """Round to two digits in the unit that is shown."""
    unit = next((unit for unit in (3600, 60) if seconds >= unit), 1)
    return float(f"{seconds / unit:.2g}") * unit


def _short(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:g} s"
    return f"{seconds / 60:g} min" if seconds < 3600 else f"{seconds / 3600:g} h"
