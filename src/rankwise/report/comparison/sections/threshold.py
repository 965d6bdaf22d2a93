"""The threshold explorer: where to cut, and what that costs."""

from __future__ import annotations

import math

from rankwise.report.comparison.charts import Axis, Frame, line, linear_axis
from rankwise.report.comparison.curves import Thresholds, levels_of, thresholds_of
from rankwise.report.comparison.distributions import unit_range
from rankwise.report.comparison.format import NOTHING, count
from rankwise.report.comparison.markup import Child, Markup, Part, element, figure, note
from rankwise.report.comparison.run import Run

COST_FALSE_POSITIVE, COST_FALSE_NEGATIVE = 1, 10

_NUMBERS = (
    ("threshold", "threshold"),
    ("flagged", "flagged"),
    ("precision", "precision"),
    ("recall", "recall"),
    ("f1", "F1"),
    ("tp", "true positives"),
    ("fp", "false positives"),
    ("fn", "false negatives"),
)


def explorer(run: Run) -> Part:
    """A slider over thresholds of the chosen candidate, drawn at the best F1 to begin with."""
    given, chosen = run.predictions, run.recommended
    probability = given.probabilities.get(chosen.number)
    values = unit_range(given.scores[chosen.number]) if probability is None else probability
    rows = thresholds_of(levels_of(values, given.target, given.weight))
    kind = "score moved to 0–1" if probability is None else "probability"
    told: list[Child] = [
        "Rows of the test part at or above the threshold are flagged by ",
        element("strong", chosen.name),
        ". ",
    ]
    if probability is None:
        told.append(
            "This run has no calibrated probabilities: the threshold is on scores moved to the "
            "range from 0 to 1, which are no probabilities. "
        )
    told.append("The steps of the slider are spaced by how many rows are flagged.")
    frame = _frame(rows, kind)
    body = [
        note(told),
        element(
            "div",
            element("div", _picture(frame, rows), _slider(frame, rows, kind)),
            element("div", _panel(rows), _costs(rows)),
            class_="explorer",
        ),
    ]
    return Part("threshold", "Threshold", body, {"threshold": _data(frame, rows)})


def _frame(rows: Thresholds, kind: str) -> Frame:
    last = len(rows.threshold) - 1
    places = sorted({round(n * max(0, last - 1) / 5) for n in range(6)})
    ticks = tuple((float(place), f"{rows.threshold[place]:.2g}") for place in places)
    axis = Axis(f"threshold ({kind})", 0.0, float(max(1, last)), ticks)
    return Frame(
        axis, linear_axis("precision, recall, F1", 0, 1), width=620, height=350, top=36, bottom=56
    )


def _picture(frame: Frame, rows: Thresholds) -> Markup:
    # The last row flags none: it has no precision, so that line ends before it.
    tp, fp = rows.true_positives, rows.false_positives
    kept = range(len(tp) - 1)
    recall, f1 = tp / rows.positives, 2 * tp / (tp + fp + rows.positives)
    picture = frame.drawn(
        line(frame, kept, (tp[:-1] / (tp + fp)[:-1]).tolist(), "line precision"),
        line(frame, range(len(tp)), recall.tolist(), "line recall"),
        line(frame, range(len(tp)), f1.tolist(), "line f1"),
        element("path", class_="line cost", id="cost-line"),
        element(
            "line",
            class_="marker cheapest",
            id="cheapest-marker",
            x1=-9,
            x2=-9,
            y1=frame.top,
            y2=frame.height - frame.bottom,
        ),
        element(
            "line",
            class_="marker",
            id="threshold-marker",
            x1=frame.x(rows.best_f1),
            x2=frame.x(rows.best_f1),
            y1=frame.top,
            y2=frame.height - frame.bottom,
        ),
        label="Precision, recall and F1 against the threshold",
    )
    names = (
        ("precision", "precision"),
        ("recall", "recall"),
        ("f1", "F1"),
        ("cost", "cost, as a share of the highest"),
    )
    chips = [element("span", name, class_=f"chip {class_}") for class_, name in names]
    return figure(picture, element("span", chips, class_="chips"))


def _slider(frame: Frame, rows: Thresholds, kind: str) -> Markup:
    slider = element(
        "input",
        id="threshold-slider",
        type="range",
        min=0,
        max=len(rows.threshold) - 1,
        step=1,
        value=rows.best_f1,
        aria_valuetext=_written(rows, rows.best_f1),
    )
    buttons = [
        element("button", "Best F1", type="button", id="best-f1", class_="quiet-button"),
        element("button", "Cheapest", type="button", id="cheapest", class_="quiet-button"),
    ]
    label = element("label", f"Threshold ({kind})", for_="threshold-slider")
    return element("div", label, slider, element("div", buttons, class_="buttons"), class_="slider")


def _panel(rows: Thresholds) -> Markup:
    at = rows.best_f1
    tp, fp = float(rows.true_positives[at]), float(rows.false_positives[at])
    shown = {
        "threshold": _written(rows, at),
        "flagged": count(tp + fp),
        "precision": _ratio(tp, tp + fp),
        "recall": _ratio(tp, rows.positives),
        "f1": _ratio(2 * tp, tp + fp + rows.positives),
        "tp": count(tp),
        "fp": count(fp),
        "fn": count(rows.positives - tp),
    }
    cells = [
        element("div", element("dt", name), element("dd", shown[key], id=f"at-{key}"))
        for key, name in _NUMBERS
    ]
    return element("dl", cells, class_="numbers")


def _costs(rows: Thresholds) -> Markup:
    fp = float(rows.false_positives[rows.best_f1])
    fn = rows.positives - float(rows.true_positives[rows.best_f1])
    costs = {"fp": COST_FALSE_POSITIVE, "fn": COST_FALSE_NEGATIVE}
    total = costs["fp"] * fp + costs["fn"] * fn
    lines = [
        element(
            "div",
            element("label", f"Cost of a false {name}", for_=f"cost-{key}"),
            element(
                "input",
                id=f"cost-{key}",
                type="number",
                min=0,
                step="any",
                value=costs[key],
                inputmode="decimal",
            ),
            element("output", count(costs[key] * errors), id=f"sum-{key}", for_=f"cost-{key}"),
        )
        for key, name, errors in (("fp", "positive", fp), ("fn", "negative", fn))
    ]
    least = rows.cheapest(costs["fp"], costs["fn"])
    missed = rows.positives - rows.true_positives[least]
    lowest = costs["fp"] * rows.false_positives[least] + costs["fn"] * missed
    return element(
        "div",
        element("h3", "Costs"),
        lines,
        element(
            "div",
            element("span", "Total"),
            element("span"),
            element("output", count(total), id="sum-total"),
            class_="total",
        ),
        element(
            "p",
            f"Cheapest: {count(float(lowest))} at {_threshold(rows, least)}.",
            id="cheapest-told",
            class_="note",
        ),
        class_="costs",
    )


def _data(frame: Frame, rows: Thresholds) -> object:
    return {
        "threshold": [v if math.isfinite(v) else None for v in rows.threshold.tolist()],
        "tp": _short(rows.true_positives.tolist()),
        "fp": _short(rows.false_positives.tolist()),
        "positives": rows.positives,
        "best": rows.best_f1,
        "px": [frame.x(place) for place in range(len(rows.threshold))],
        "top": frame.y(1),
        "bottom": frame.y(0),
    }


def _short(values: list[float]) -> list[float]:
    return [int(value) if value == int(value) else round(value, 3) for value in values]


def _threshold(rows: Thresholds, at: int) -> str:
    known = math.isfinite(rows.threshold[at])
    return f"a threshold of {_written(rows, at)}" if known else "no row flagged"


def _written(rows: Thresholds, at: int) -> str:
    """All digits of a threshold: fewer could flag other rows."""
    return repr(float(rows.threshold[at])).removesuffix(".0")


def _ratio(part: float, whole: float) -> str:
    return f"{part / whole:.3f}" if whole else NOTHING
