"""Precision–recall, ROC and lift curves of all candidates, and the lift among the top k."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rankwise.report.comparison import charts
from rankwise.report.comparison import curves as measures
from rankwise.report.comparison import format as fmt
from rankwise.report.comparison import markup as html
from rankwise.report.comparison.run import Run
from rankwise.report.html import Markup, element

_SHARES = (0.0001, 0.001, 0.01, 0.1, 1.0)


def curves(run: Run, levels: Mapping[int, measures.Levels]) -> html.Section:
    """Return the precision–recall and the ROC chart under one legend."""
    prior = levels[run.recommended.number].prior
    axes = {"pr": ("recall", "precision"), "roc": ("false positive rate", "true positive rate")}
    shapes = {"pr": measures.precision_recall_curves, "roc": measures.roc_curves}
    chance = {"pr": [prior, prior], "roc": [0.0, 1.0]}
    images, data = {}, {}
    for name, (x, y) in axes.items():
        found = {number: shapes[name](each) for number, each in levels.items()}
        frame = charts.Frame(charts.linear_axis(x, 0, 1), charts.linear_axis(y, 0, 1))
        lines = f"{'each of ' if len(found) > 1 else ''}{fmt.counted(len(found), 'candidate')}"
        images[name] = frame.render(
            charts.line(frame, [0, 1], chance[name], "chance"),
            series_of(run, frame, found),
            label=f"{y} against {x}, one line for {lines}".capitalize(),
            chart=name,
        )
        data[name] = chart_data(run, frame, found, x, 3)
    body = [
        html.note(
            "Every line is a candidate on the test part. The bands hold 95\u202f% of 200 bootstrap "
            "resamples at each point; those of the recommended and of the baseline are shown. "
            "Point at a chart to read values, or focus it and use the arrow keys."
        ),
        html.legend(run, run.drawn, bands=True),
        html.pair(
            html.figure(images["pr"], f"Precision–recall. Chance is a precision of {prior:.3g}."),
            html.figure(images["roc"], "ROC. The dotted diagonal is chance."),
        ),
    ]
    return html.Section("curves", "Curves", body, data)


def lift(run: Run, levels: Mapping[int, measures.Levels]) -> html.Section:
    """Return the lift curves of all candidates, and a table of the recommended and baseline."""
    found = {number: measures.lift_curves(each) for number, each in levels.items()}
    first = float(next(iter(found.values())).x[0])
    highest = max(float(curve.y.max()) for curve in found.values())
    frame = charts.Frame(
        charts.log_axis("share of rows", first, 1.0, _SHARES, _share),
        charts.linear_axis("lift", 0, max(1.2, 1.08 * highest)),
    )
    image = frame.render(
        charts.line(frame, [first, 1.0], [1, 1], "chance"),
        series_of(run, frame, found),
        label="Lift against the share of rows, one line for each candidate",
        chart="lift",
    )
    body = [
        html.note(
            "Lift is the precision among the top k divided by the share of positives in all rows. "
            "Tied scores count by their mean over all orders."
        ),
        html.legend(run, run.drawn),
        html.pair(html.figure(image, "Lift. The dotted line is chance."), _lift_table(run, levels)),
    ]
    return html.Section(
        "lift", "Lift at k", body, {"lift": chart_data(run, frame, found, "share", 2)}
    )


def _lift_table(run: Run, levels: Mapping[int, measures.Levels]) -> Markup | None:
    """Return a table of a few k; none where all rows together weigh no more than one."""
    best = levels[run.recommended.number]
    base = None if run.rival is None else levels.get(run.rival.number)
    header = ["Top k", "Positives", "Precision", "Recall", "Lift"]
    rows = []
    for k in measures.places(best):
        at = measures.found_at(best, k)
        row = [
            f"{fmt.count(k)} ({fmt.percent(k / float(best.flagged[-1]))})",
            fmt.count(round(at.positives, 1)),
            fmt.percent(at.precision),
            fmt.percent(at.recall),
            fmt.decimal(at.lift, 1),
        ]
        rows.append(
            row if base is None else [*row, fmt.decimal(measures.found_at(base, k).lift, 1)]
        )
    if not rows:
        return None
    header += [] if base is None else ["Baseline’s"]
    return html.table(["Of ", element("strong", run.recommended.name), "."], header, rows)


def series_of(run: Run, frame: charts.Frame, found: Mapping[int, measures.Curve]) -> list[Markup]:
    """Return band and line of every candidate, the recommended on top of the others."""
    shown = (run.recommended, run.baseline)
    drawn = []
    for each in sorted(run.drawn, key=lambda c: (c is run.recommended, c is run.baseline)):
        x, y, low, high = (v.tolist() for v in found[each.number])
        marks = charts.area(frame, x, low, high), charts.line(frame, x, y)
        drawn.append(html.series(run, each, marks, more=" shown-band" if each in shown else ""))
    return drawn


def chart_data(
    run: Run, frame: charts.Frame, found: Mapping[int, measures.Curve], x: str, digits: int
) -> object:
    """Return what a script reads: positions, and the values of every candidate there."""
    grid = next(iter(found.values())).x.tolist()
    heights = {each.number: found[each.number].y.tolist() for each in run.drawn}
    return {
        "title": x,
        "digits": digits,
        "x": [float(f"{value:.3g}") for value in grid],
        "px": [frame.x(value) for value in grid],
        "series": [
            {
                "number": number,
                "y": [float(f"{value:.4g}") for value in values],
                "py": [frame.y(value) for value in values],
            }
            for number, values in heights.items()
        ],
    }


def _share(value: float) -> str:
    return f"{100 * value:.{max(0, -math.floor(math.log10(100 * value) + 1e-9))}f} %"
