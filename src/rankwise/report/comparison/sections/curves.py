"""Charts of all candidates: precision–recall, ROC and lift curves, and the metric against time."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rankwise.report import charts
from rankwise.report import elements as html
from rankwise.report import format as fmt
from rankwise.report.comparison import curves as measures
from rankwise.report.comparison import markup
from rankwise.report.comparison.run import Candidate, Run
from rankwise.report.elements import Markup, element, join
from rankwise.report.html import Section, Table

_SHARES = (0.0001, 0.001, 0.01, 0.1, 1.0)
# Seconds that are round to a reader of clocks; the finer ones where few of these fit.
_COARSE = (0.01, 0.1, 1, 10, 60, 600, 3600, 36000)
_ROUND = (*_COARSE, 0.03, 0.3, 3, 30, 120, 300, 1800, 7200, 18000, 86400)
_FINE = (
    *(*_ROUND, 0.02, 0.05, 0.2, 0.5, 2, 4, 5, 6, 8, 15, 20, 40, 90, 180, 240, 900, 1200),
    *(10800, 14400, 21600, 28800, 43200, 172800),
)


def curves(run: Run) -> Section:
    """Return the precision–recall and the ROC chart under one legend."""
    prior = run.levels[run.recommended.number].prior
    axes = {"pr": ("recall", "precision"), "roc": ("false positive rate", "true positive rate")}
    shapes = {"pr": measures.precision_recall_curves, "roc": measures.roc_curves}
    chance = {"pr": (prior, prior), "roc": (0.0, 1.0)}
    captions = {
        "pr": f"Precision–recall. Chance is a precision of {prior:.3g}.",
        "roc": "ROC. The dotted diagonal is chance.",
    }
    each = "each of " if len(run.levels) > 1 else ""
    lines = f"one line for {each}{fmt.counted(len(run.levels), 'candidate')}"
    figures, data = [], {}
    for name, (x, y) in axes.items():
        found = {number: shapes[name](levels) for number, levels in run.levels.items()}
        frame = charts.Frame(charts.linear_axis(x, 0, 1), charts.linear_axis(y, 0, 1))
        dotted = charts.line(frame, (0, 1), chance[name], "chance")
        label = f"{y} against {x}, {lines}".capitalize()
        image = frame.render(dotted, series_of(run, frame, found), label=label, chart=name)
        figures.append(html.figure(image, captions[name]))
        data[name] = chart_data(run, frame, found, x, 3)
    body = [
        html.note(
            "Every line is a candidate on the test part. The bands hold 95\u202f% of 200 bootstrap "
            "resamples at each point; those of the recommended and of the baseline are shown. "
            "Point at a chart to read values, or focus it and use the arrow keys."
        ),
        markup.legend(run, run.drawn, bands=True),
        html.pair(figures),
    ]
    return Section("Curves", body=body, charts=data)


def lift(run: Run) -> Section:
    """Return the lift curves of all candidates, and a table of the recommended and baseline."""
    found = {number: measures.lift_curves(each) for number, each in run.levels.items()}
    first = float(next(iter(found.values())).x[0])
    highest = max(float(curve.y.max()) for curve in found.values())
    frame = charts.Frame(
        charts.log_axis("share of rows", first, 1.0, _SHARES, _share),
        charts.linear_axis("lift", 0, max(1.2, 1.08 * highest)),
    )
    dotted = charts.line(frame, (first, 1.0), (1, 1), "chance")
    label = "Lift against the share of rows, one line for each candidate"
    image = frame.render(dotted, series_of(run, frame, found), label=label, chart="lift")
    body = [
        html.note(
            "Lift is the precision among the top k divided by the share of positives in all rows. "
            "Tied scores count by their mean over all orders."
        ),
        markup.legend(run, run.drawn),
        html.pair(html.figure(image, "Lift. The dotted line is chance."), _lift_table(run)),
    ]
    data = {"lift": chart_data(run, frame, found, "share", 2)}
    return Section("Lift at k", body=body, anchor="lift", charts=data)


def _lift_table(run: Run) -> Markup | None:
    """Return a table of a few k; none where all rows together weigh no more than one."""
    best = run.levels[run.recommended.number]
    base = None if run.rival is None else run.levels.get(run.rival.number)
    rows = []
    for k in measures.places(best):
        at = measures.found_at(best, k)
        row = [
            f"{fmt.count(k)} ({fmt.percent(k / float(best.flagged[-1]))})",
            fmt.count(round(at.positives, 1)),
            fmt.percent(at.precision),
            fmt.percent(at.recall),
        ]
        lifts = [each.lift for each in (at, base and measures.found_at(base, k)) if each]
        rows.append([*row, *(fmt.decimal(each, 1) for each in lifts)])
    if not rows:
        return None
    header = ["Top k", "Positives", "Precision", "Recall", "Lift", "Baseline’s"]
    caption = join(["Of ", element("strong", run.recommended.title), "."])
    return Table(header[: len(rows[0])], rows, caption).render()


def series_of(run: Run, frame: charts.Frame, found: Mapping[int, measures.Curve]) -> list[Markup]:
    """Return band and line of every candidate, the recommended on top of the others."""
    shown = (run.recommended, run.baseline)
    drawn = []
    for each in sorted(run.drawn, key=lambda c: (c is run.recommended, c is run.baseline)):
        x, y, low, high = (v.tolist() for v in found[each.number])
        marks = charts.area(frame, x, low, high), charts.line(frame, x, y)
        drawn.append(markup.series(run, each, marks, more=" shown-band" if each in shown else ""))
    return drawn


def chart_data(
    run: Run, frame: charts.Frame, found: Mapping[int, measures.Curve], x: str, digits: int
) -> object:
    """Return what a script reads: positions, and the values of every candidate there."""
    grid = next(iter(found.values())).x.tolist()
    series = []
    for each in run.drawn:
        y = found[each.number].y.tolist()
        values, places = [float(f"{v:.4g}") for v in y], [frame.y(v) for v in y]
        series.append({"number": each.number, "y": values, "py": places})
    x_values, x_places = [float(f"{v:.3g}") for v in grid], [frame.x(v) for v in grid]
    return {"title": x, "digits": digits, "x": x_values, "px": x_places, "series": series}


def _share(value: float) -> str:
    return f"{100 * value:.{max(0, -math.floor(math.log10(100 * value) + 1e-9))}f} %"


def time(run: Run) -> Section | None:
    """Return the charts of the metric and of the tuning against time."""
    figures = [each for each in (_final(run), _tuning(run)) if each]
    if not figures:
        return None
    return Section("Time", body=[markup.legend(run, run.candidates), html.pair(figures)])


def _final(run: Run) -> Markup | None:
    timed = [c for c in run.candidates if c.seconds > 0 and not math.isnan(c.test.value)]
    if not timed:
        return None
    seconds = [each.seconds for each in timed]
    range_ = charts.padded(charts.known_values(each.test for each in timed))
    frame = charts.Frame(
        _clock("training time", min(seconds) / 1.4, max(seconds) * 1.4),
        charts.linear_axis(fmt.full_name(run.metric), *range_),
    )
    points = []
    for each in timed:
        at, test = each.seconds, each.test
        bar = charts.whisker(frame, at, test.low, test.high) if test.has_interval else None
        title = f"{each.title}: {fmt.decimal(test.value)} in {fmt.duration(at)}"
        dot = charts.dot(frame, at, test.value, 6.0, title)
        points.append(markup.series(run, each, bar, dot))
    label = f"{fmt.capitalized(fmt.full_name(run.metric))} against training time"
    caption = "Test value with its 95\u202f% interval against time. Up and to the left is better."
    return html.figure(frame.render(points, label=label), caption)


def _tuning(run: Run) -> Markup | None:
    paths = {each.number: path for each in run.candidates if (path := _changes(each))}
    if not paths:
        return None
    times, values = zip(*(point for path in paths.values() for point in path), strict=True)
    start = max(min(times), 0.01)
    frame = charts.Frame(
        _clock("time spent on tuning", start, max(start, *times)),
        charts.linear_axis("best validation value", *charts.padded(values)),
    )
    drawn = [
        markup.series(run, each, charts.steps(frame, points), _lone_point(frame, each, points))
        for each in run.candidates
        if (points := paths.get(each.number))
    ]
    caption = "The best validation value so far while each candidate was tuned."
    return html.figure(frame.render(drawn, label=caption), caption)


def _lone_point(
    frame: charts.Frame, each: Candidate, points: list[tuple[float, float]]
) -> Markup | None:
    """Return a dot for a candidate of one trial, whose line has no length."""
    if len(points) > 1:
        return None
    ((seconds, value),) = points
    title = f"{each.title}: {fmt.decimal(value)} in {fmt.duration(seconds)}"
    return charts.dot(frame, seconds, value, 4.0, title)


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
