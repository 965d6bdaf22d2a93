"""How the chosen candidate spreads its scores."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rankwise.report.comparison.drawn import Axis, Frame, bars, linear_axis
from rankwise.report.comparison.markup import Markup, element
from rankwise.report.comparison.measured.histogram import histogram_of
from rankwise.report.comparison.part import Part, figure, note, table
from rankwise.report.comparison.reading import Floats
from rankwise.report.comparison.run import Run
from rankwise.report.comparison.words import count, decimal

__all__ = ["scores"]


def scores(run: Run) -> Part:
    """A histogram for each class: positives upwards, negatives downwards."""
    given = run.predictions
    found = histogram_of(given.scores[run.recommended.number], given.target, given.weight)
    tallest = 1.08 * max(float(found.positives.max()), float(found.negatives.max()))
    upwards = linear_axis("", 0, tallest, lambda v: f"{100 * v:g} %", most=4)
    both = {(sign * value, text) for value, text in upwards.ticks for sign in (1, -1)}
    heights = Axis("share of the class in each bar", -tallest, tallest, tuple(sorted(both)))
    edges = found.edges.tolist()
    frame = Frame(
        linear_axis("score", edges[0], edges[-1]),
        heights,
        width=620,
        height=350,
        left=50,
        top=36,
        bottom=56,
    )
    end, zero = frame.width - frame.right, frame.y(0)
    picture = frame.drawn(
        bars(frame, edges, found.positives.tolist(), "bars positive"),
        bars(frame, edges, (-found.negatives).tolist(), "bars negative"),
        element("line", class_="axis", x1=frame.left, x2=end, y1=zero, y2=zero),
        label="Histogram of scores: positives above the line, negatives below it",
    )
    key = element(
        "span",
        element("span", "positives, upwards", class_="chip positive"),
        element("span", "negatives, downwards", class_="chip negative"),
        class_="chips",
    )
    told = note(
        "Scores of ",
        element("strong", run.recommended.name),
        " on the test part. Each class adds up to 100\u202f%, so that a rare class can be seen; "
        "the few scores beyond the ends are in the outer bars. The less the two overlap, the "
        "better they are ranked.",
    )
    body = [told, element("div", figure(picture, key), _quantiles(run), class_="explorer")]
    return Part("scores", "Scores", body)


def _quantiles(run: Run) -> Markup:
    """Where the classes are, in figures."""
    given = run.predictions
    chosen = given.scores[run.recommended.number]
    classes = [(given.target == 1) == positive for positive in (True, False)]
    columns = [_score_at(chosen[each], given.weight[each]) for each in classes]
    span = np.ptp(chosen[np.isfinite(chosen)]) if np.isfinite(chosen).any() else 0.0
    digits = max(0, 2 - math.floor(math.log10(span))) if span > 0 else 3
    rows = [
        [name, *(decimal(score_at(at), digits) for score_at in columns)]
        for name, at in (
            ("lowest", 0.0),
            ("5\u202f%", 0.05),
            ("25\u202f%", 0.25),
            ("median", 0.5),
            ("75\u202f%", 0.75),
            ("95\u202f%", 0.95),
            ("highest", 1.0),
        )
    ]
    return table(
        "The score that a share of each class is at or below.",
        ["", "Positives", "Negatives"],
        [*rows, ["rows", *(count(int(each.sum())) for each in classes)]],
    )


def _score_at(scores: Floats, weight: Floats) -> Callable[[float], float]:
    """The lowest score that a share of the weight is at or below, by the share."""
    order = np.argsort(scores)
    order = order[weight[order] > 0]
    ordered, below = scores[order], np.cumsum(weight[order])

    def at(share: float) -> float:
        wanted = share * below[-1] * (1 - 1e-12)  # .05 · 140 is a little more than 7
        return float(ordered[np.searchsorted(below, wanted)])

    return at
