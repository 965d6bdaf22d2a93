"""What is found when only the first k can be looked at."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rankwise.report.comparison.drawn import Frame, line, linear_axis, log_axis
from rankwise.report.comparison.markup import Markup, element
from rankwise.report.comparison.measured.curves import lift_curves
from rankwise.report.comparison.measured.levels import Levels
from rankwise.report.comparison.measured.lift import found_at, places
from rankwise.report.comparison.part import Part, figure, note, table
from rankwise.report.comparison.run import Run
from rankwise.report.comparison.sections.curves import chart_data, series_of
from rankwise.report.comparison.series import legend
from rankwise.report.comparison.words import count, decimal, percent

__all__ = ["lift"]

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
