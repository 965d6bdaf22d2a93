"""Precision–recall and ROC curves of all candidates."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from rankwise.report.comparison.charts import Frame, area, line, linear_axis, log_axis
from rankwise.report.comparison.curves import (
    Curve,
    Levels,
    found_at,
    lift_curves,
    places,
    precision_recall_curves,
    roc_curves,
)
from rankwise.report.comparison.format import count, counted, decimal, percent
from rankwise.report.comparison.markup import (
    Markup,
    Part,
    color_class,
    element,
    figure,
    legend,
    note,
    table,
)
from rankwise.report.comparison.run import Run

_TITLES = {
    "pr": ("recall", "precision"),
    "roc": ("false positive rate", "true positive rate"),
}


def curves(run: Run, levels: Mapping[int, Levels]) -> Part:
    """Both charts under one legend."""
    pr, pr_data = _chart(run, levels, "pr", precision_recall_curves)
    roc, roc_data = _chart(run, levels, "roc", roc_curves)
    prior = levels[run.recommended.number].prior
    body = [
        note(
            "Every line is a candidate on the test part. The bands hold 95\u202f% of 200 bootstrap "
            "resamples at each place; those of the recommended and of the baseline are shown. "
            "Point at a chart to read values, or focus it and use the arrow keys."
        ),
        legend(run, run.drawn, bands=True),
        element(
            "div",
            figure(pr, f"Precision–recall. Chance is a precision of {prior:.3g}."),
            figure(roc, "ROC. The dotted diagonal is chance."),
            class_="pair",
        ),
    ]
    return Part("curves", "Curves", body, {"pr": pr_data, "roc": roc_data})


def series_of(run: Run, frame: Frame, found: Mapping[int, Curve]) -> list[Markup]:
    """Band and line of every candidate, the recommended on top of the others."""
    ordered = sorted(run.drawn, key=lambda c: (c is run.recommended, c is run.baseline))
    drawn = []
    for each in ordered:
        curve = found[each.number]
        x = curve.x.tolist()
        role = " shown-band" if each in (run.recommended, run.baseline) else ""
        drawn.append(
            element(
                "g",
                area(frame, x, curve.low.tolist(), curve.high.tolist()),
                line(frame, x, curve.y.tolist()),
                class_=f"series {color_class(run, each)}{role}",
                data_series=each.number,
            )
        )
    return drawn


def chart_data(run: Run, frame: Frame, found: Mapping[int, Curve], x: str, digits: int) -> object:
    """What a script reads off: places, values, and the heights of every candidate there."""
    grid = next(iter(found.values())).x.tolist()
    return {
        "title": x,
        "digits": digits,
        "x": [float(f"{value:.3g}") for value in grid],
        "px": [frame.x(value) for value in grid],
        "series": [
            {
                "number": each.number,
                "y": [float(f"{value:.4g}") for value in found[each.number].y.tolist()],
                "py": [frame.y(value) for value in found[each.number].y.tolist()],
            }
            for each in run.drawn
        ],
    }


def _chart(
    run: Run, levels: Mapping[int, Levels], name: str, measure: Callable[[Levels], Curve]
) -> tuple[Markup, object]:
    x, y = _TITLES[name]
    found = {number: measure(each) for number, each in levels.items()}
    frame = Frame(linear_axis(x, 0, 1), linear_axis(y, 0, 1))
    prior = levels[run.recommended.number].prior
    chance = [prior, prior] if name == "pr" else [0.0, 1.0]
    lines = f"{'each of ' if len(found) > 1 else ''}{counted(len(found), 'candidate')}"
    picture = frame.drawn(
        line(frame, [0, 1], chance, "chance"),
        series_of(run, frame, found),
        label=f"{y} against {x}, one line for {lines}".capitalize(),
        chart=name,
    )
    return picture, chart_data(run, frame, found, x, 3)


_SHARES = (0.0001, 0.001, 0.01, 0.1, 1.0)


def lift(run: Run, levels: Mapping[int, Levels]) -> Part:
    """The curve of all candidates, and a table of the chosen one beside the baseline."""
    found = {number: lift_curves(each) for number, each in levels.items()}
    grid = next(iter(found.values())).x
    highest = max(float(curve.y.max()) for curve in found.values())
    frame = Frame(
        log_axis("share of rows looked at", float(grid[0]), 1.0, _SHARES, _share),
        linear_axis("lift", 0, max(1.2, 1.08 * highest)),
    )
    picture = frame.drawn(
        line(frame, [float(grid[0]), 1.0], [1, 1], "chance"),
        series_of(run, frame, found),
        label="Lift against the share of rows looked at, one line for each candidate",
        chart="lift",
    )
    body = [
        note(
            "Lift is how many times more positives there are among the first k than among k rows "
            "taken at random. Tied scores count by their mean over all orders."
        ),
        legend(run, run.drawn),
        element(
            "div",
            figure(picture, "Lift. The dotted line is chance."),
            _table(run, levels),
            class_="pair",
        ),
    ]
    data = chart_data(run, frame, found, "share", 2)
    return Part("lift", "Lift at k", body, {"lift": data})


def _table(run: Run, levels: Mapping[int, Levels]) -> Markup | None:
    """A few k; none where all rows together weigh no more than one."""
    best = levels[run.recommended.number]
    base = None
    if run.baseline is not None and run.baseline is not run.recommended:
        base = levels.get(run.baseline.number)
    total = float(best.flagged[-1])
    rows = []
    for k in places(best):
        at = found_at(best, k)
        row = [
            f"{count(k)} ({percent(k / total)})",
            _expected(at.positives),
            percent(at.precision),
            percent(at.recall),
            decimal(at.lift, 1),
        ]
        rows.append(row if base is None else [*row, decimal(found_at(base, k).lift, 1)])
    if not rows:
        return None
    header = ["First k", "Found", "Precision", "Recall", "Lift"]
    if base is not None:
        header.append("Baseline’s")
    return table(["Of ", element("strong", run.recommended.name), "."], header, rows)


def _expected(positives: float) -> str:
    return count(round(positives, 1))


def _share(value: float) -> str:
    return f"{100 * value:.{max(0, -math.floor(math.log10(100 * value) + 1e-9))}f} %"
