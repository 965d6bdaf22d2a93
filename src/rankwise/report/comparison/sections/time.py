"""What a candidate cost, and what that bought."""

from __future__ import annotations

import math

from rankwise.report.comparison.charts import (
    Axis,
    Frame,
    dot,
    linear_axis,
    log_axis,
    steps,
    whisker,
)
from rankwise.report.comparison.format import capitalized, decimal, duration, full_name
from rankwise.report.comparison.markup import Markup, Part, color_class, element, figure, legend
from rankwise.report.comparison.run import Candidate, Run

# Seconds that are round to a reader of clocks; the finer ones where few of these fit.
_COARSE = (0.01, 0.1, 1, 10, 60, 600, 3600, 36000)
_ROUND = (*_COARSE, 0.03, 0.3, 3, 30, 120, 300, 1800, 7200, 18000, 86400)
_FINE = (
    *(*_ROUND, 0.02, 0.05, 0.2, 0.5, 2, 4, 5, 6, 8, 15, 20, 40, 90, 180, 240, 900, 1200),
    *(10800, 14400, 21600, 28800, 43200, 172800),
)


def time(run: Run) -> Part | None:
    """The metric against time: at the end, and on the way there."""
    pictures = [picture for picture in (_costs(run), _tuning(run)) if picture]
    if not pictures:
        return None
    return Part(
        "time", "Time", [legend(run, run.candidates), element("div", pictures, class_="pair")]
    )


def _costs(run: Run) -> Markup | None:
    timed = [
        each for each in run.candidates if each.seconds > 0 and not math.isnan(each.test.value)
    ]
    if not timed:
        return None
    heights = [
        v for c in timed for v in (c.test.low, c.test.high, c.test.value) if not math.isnan(v)
    ]
    seconds = [each.seconds for each in timed]
    frame = Frame(
        _clock("training time", min(seconds) / 1.4, max(seconds) * 1.4),
        linear_axis(full_name(run.metric), *_padded(heights)),
    )
    marks = [_point(run, frame, each) for each in timed]
    label = f"{capitalized(full_name(run.metric))} against training time"
    caption = "Test value with its 95\u202f% interval against time. Up and to the left is better."
    return figure(frame.drawn(marks, label=label), caption)


def _point(run: Run, frame: Frame, each: Candidate) -> Markup:
    test = each.test
    told = f"{each.name}: {decimal(test.value)} in {duration(each.seconds)}"
    return element(
        "g",
        whisker(frame, each.seconds, test.low, test.high) if test.has_interval else None,
        dot(frame, each.seconds, test.value, 6.0, told),
        class_=f"series {color_class(run, each)}",
        data_series=each.number,
    )


def _tuning(run: Run) -> Markup | None:
    paths = {each.number: _known(each) for each in run.candidates}
    points = [point for path in paths.values() for point in path]
    if not points:
        return None
    times = [seconds for seconds, _ in points]
    start = max(min(times), 0.01)
    frame = Frame(
        _clock("time spent on tuning", start, max(start, *times)),
        linear_axis("best validation value", *_padded([value for _, value in points])),
    )
    drawn = [
        element(
            "g",
            steps(frame, paths[each.number], paths[each.number][-1][0]),
            class_=f"series {color_class(run, each)}",
            data_series=each.number,
        )
        for each in run.candidates
        if paths[each.number]
    ]
    caption = "The best validation value so far while each candidate was tuned."
    return figure(frame.drawn(drawn, label=caption), caption)


def _known(each: Candidate) -> list[tuple[float, float]]:
    """Its curve where it changes: what repeats is drawn by the step before."""
    path = [point for point in each.curve if not (math.isnan(point[0]) or math.isnan(point[1]))]
    changes = [p for n, p in enumerate(path) if n == 0 or p[1] != path[n - 1][1]]
    last = path[-1:] if path and path[-1] != changes[-1] else []
    every = max(1, math.ceil(len(changes) / 190))
    return changes[:-1:every] + changes[-1:] + last


def _clock(title: str, low: float, high: float) -> Axis:
    """An axis of time, with the roundest ticks that are at least three."""
    spaced = [_rounded(low * (high / low) ** at) for at in (0.2, 0.5, 0.8)]
    for values in (_COARSE, _ROUND, _FINE, spaced):
        axis = log_axis(title, low, high, values, _short)
        if len(axis.ticks) >= 3:
            break
    return axis


def _padded(values: list[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = 0.06 * (high - low) or 0.05
    return low - room, high + room


def _rounded(seconds: float) -> float:
    """To two digits in the unit that it is told in."""
    unit = next((unit for unit in (3600, 60) if seconds >= unit), 1)
    return float(f"{seconds / unit:.2g}") * unit


def _short(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:g} s"
    return f"{seconds / 60:g} min" if seconds < 3600 else f"{seconds / 3600:g} h"
