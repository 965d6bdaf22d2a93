"""Whether the probabilities of the chosen candidate can be taken at their word."""

from __future__ import annotations

import math

import numpy as np

from rankwise.report.comparison.drawn import Frame, dot, line, linear_axis, whisker
from rankwise.report.comparison.markup import Markup, element
from rankwise.report.comparison.measured.calibration import Bin, brier_score, reliability
from rankwise.report.comparison.part import Part, figure, note, table
from rankwise.report.comparison.run import Run
from rankwise.report.comparison.words import count, percent

__all__ = ["calibration"]


def calibration(run: Run) -> Part:
    """A reliability plot with its bins as a table, and the Brier score."""
    given = run.predictions
    chosen = given.probabilities.get(run.recommended.number)
    if chosen is None:
        told = note("This run has no calibrated probabilities, so there is nothing to compare.")
        return Part("calibration", "Calibration", told)
    bins = reliability(chosen, given.target, given.weight)
    known = [each for each in bins if not math.isnan(each.observed)]
    top = min(1.0, 1.05 * max(max(each.predicted, each.high) for each in known))
    frame = Frame(linear_axis("predicted", 0, top), linear_axis("observed", 0, top))
    marks = [
        (
            whisker(frame, each.predicted, each.low, each.high),
            dot(frame, each.predicted, each.observed, 5.0, _told(each)),
        )
        for each in known
    ]
    path = line(frame, [each.predicted for each in known], [each.observed for each in known])
    picture = frame.drawn(
        line(frame, [0, top], [0, top], "chance"),
        element("g", path, marks, class_="series best"),
        label="Observed share of positives against predicted probability",
    )
    rows = [
        [percent(each.predicted), percent(each.observed), count(each.rows), count(each.positives)]
        for each in bins
    ]
    header = ["Predicted", "Observed", "Rows", "Positive"]
    body = [
        note(
            "On the dotted diagonal a probability of 30\u202f% means that 30\u202f% are positive. "
            "Each bin expects about equally many positives; the bars are 95\u202f% Wilson "
            "intervals."
        ),
        _brier(run),
        element(
            "div",
            figure(picture, "Reliability on the test part."),
            table("Bins by predicted probability.", header, rows),
            class_="pair",
        ),
    ]
    return Part("calibration", "Calibration", body)


def _brier(run: Run) -> Markup:
    given = run.predictions
    prior = float(np.average(given.target, weights=given.weight))
    shown = {each.number: each.name for each in (run.recommended, run.baseline) if each is not None}
    scores = [
        (name, brier_score(given.probabilities[number], given.target, given.weight))
        for number, name in shown.items()
        if number in given.probabilities
    ]
    told = [f"{value:.4f} for {name}" for name, value in scores]
    constant = f"{prior * (1 - prior):.4f} for saying {percent(prior)} of every row"
    return note(
        element("strong", "Brier score"), " (lower is better): ", "; ".join([*told, constant]), "."
    )


def _told(each: Bin) -> str:
    return (
        f"predicted {percent(each.predicted)}, observed {percent(each.observed)}: "
        f"{count(each.positives)} of {count(each.rows)}"
    )
