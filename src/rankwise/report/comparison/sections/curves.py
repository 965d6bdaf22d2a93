"""Precision–recall and ROC curves of all candidates."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rankwise.report.comparison.drawn import Frame, area, line, linear_axis
from rankwise.report.comparison.markup import Markup, element
from rankwise.report.comparison.measured.curves import (
    Curve,
    precision_recall_curves,
    roc_curves,
)
from rankwise.report.comparison.measured.levels import Levels
from rankwise.report.comparison.part import Part, figure, note
from rankwise.report.comparison.run import Run
from rankwise.report.comparison.series import color_class, legend
from rankwise.report.comparison.words import counted

__all__ = ["chart_data", "curves", "series_of"]

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
