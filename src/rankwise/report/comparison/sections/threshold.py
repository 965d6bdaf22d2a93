"""The threshold explorer: a slider over thresholds with their precision, recall and cost."""

from __future__ import annotations

import math

from rankwise.report.comparison.charts import Axis, Frame, line, linear_axis, marker
from rankwise.report.comparison.curves import Thresholds, levels_of, thresholds_of
from rankwise.report.comparison.distributions import unit_range
from rankwise.report.comparison.format import NOTHING, count
from rankwise.report.comparison.markup import Section, figure, note
from rankwise.report.comparison.run import Run
from rankwise.report.html import Markup, element, fill

_COSTS = {"fp": 1, "fn": 10}  # to begin with
_LINES = {
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "cost": "cost, as a share of the highest",
}
_EXPLORER = """<div class="explorer"><div>{chart}<div class="slider">
<label for="threshold-slider">Threshold ({kind})</label>
<input id="threshold-slider" type="range" min="0" max="{last}" step="1" value="{at}"
 aria-valuetext="{threshold}">
<div class="buttons"><button type="button" id="best-f1" class="quiet-button">Best F1</button>
<button type="button" id="cheapest" class="quiet-button">Cheapest</button></div></div></div>
<div><dl class="numbers">{numbers}</dl><div class="costs"><h3>Costs</h3>{costs}
<div class="total"><span>Total</span><span></span><output id="sum-total">{total}</output></div>
<p id="cheapest-summary" class="note">Cheapest: {lowest} at {where}.</p></div></div></div>"""
_COST = """<div><label for="cost-{key}">Cost of a false {name}</label>
<input id="cost-{key}" type="number" min="0" step="any" value="{cost}" inputmode="decimal">
<output id="sum-{key}" for="cost-{key}">{sum}</output></div>"""


def explorer(run: Run) -> Section:
    """Return a slider over thresholds of the recommended candidate, set to the best F1."""
    given, chosen = run.predictions, run.recommended
    probability = given.probabilities.get(chosen.number)
    values = unit_range(given.scores[chosen.number]) if probability is None else probability
    rows = thresholds_of(levels_of(values, given.target, given.weight))
    kind = "score scaled to 0–1" if probability is None else "probability"
    scaled = (
        "This run has no calibrated probabilities: the threshold is on scores scaled to the range "
        "from 0 to 1, which are not probabilities. "
    )
    words = note(
        "Rows of the test part at or above the threshold are flagged by ",
        element("strong", chosen.name),
        ". ",
        scaled if probability is None else None,
        "The steps of the slider are spaced by the number of flagged rows.",
    )
    frame, at = _frame(rows, kind), rows.best_f1
    total, cheapest = rows.cost(*_COSTS.values()), rows.cheapest(*_COSTS.values())
    costs = [
        fill(_COST, key=key, name=name, cost=_COSTS[key], sum=count(_COSTS[key] * errors))
        for key, name, errors in (
            ("fp", "positive", rows.false_positives[at]),
            ("fn", "negative", rows.false_negatives[at]),
        )
    ]
    shown = fill(
        _EXPLORER,
        chart=_chart(frame, rows),
        kind=kind,
        last=len(rows.threshold) - 1,
        at=at,
        threshold=_exact(rows, at),
        numbers=_numbers(rows),
        costs=costs,
        total=count(total[at]),
        lowest=count(total[cheapest]),
        where=f"a threshold of {_exact(rows, cheapest)}"
        if math.isfinite(rows.threshold[cheapest])
        else "no row flagged",
    )
    return Section("threshold", "Threshold", [words, shown], {"threshold": _data(frame, rows)})


def _frame(rows: Thresholds, kind: str) -> Frame:
    last = len(rows.threshold) - 1
    places = sorted({round(n * max(0, last - 1) / 5) for n in range(6)})
    ticks = tuple((float(place), f"{rows.threshold[place]:.2g}") for place in places)
    axis = Axis(f"threshold ({kind})", 0.0, float(max(1, last)), ticks)
    heights = linear_axis("precision, recall, F1", 0, 1)
    return Frame(axis, heights, width=620, height=350, top=36, bottom=56)


def _chart(frame: Frame, rows: Thresholds) -> Markup:
    # The last row flags none: it has no precision, so that line ends before it.
    tp, flagged = rows.true_positives, rows.true_positives + rows.false_positives
    every = range(len(tp))
    image = frame.render(
        line(frame, every[:-1], (tp[:-1] / flagged[:-1]).tolist(), "line precision"),
        line(frame, every, (tp / rows.positives).tolist(), "line recall"),
        line(frame, every, (2 * tp / (flagged + rows.positives)).tolist(), "line f1"),
        element("path", class_="line cost", id="cost-line"),
        marker(frame, -9, "marker cheapest", "cheapest-marker"),
        marker(frame, frame.x(rows.best_f1), "marker", "threshold-marker"),
        label="Precision, recall and F1 against the threshold",
    )
    chips = [element("span", name, class_=f"chip {class_}") for class_, name in _LINES.items()]
    return figure(image, element("span", chips, class_="chips"))


def _numbers(rows: Thresholds) -> list[Markup]:
    at, positives = rows.best_f1, rows.positives
    tp, fp = float(rows.true_positives[at]), float(rows.false_positives[at])
    shown = (
        ("threshold", "threshold", _exact(rows, at)),
        ("flagged", "flagged", count(tp + fp)),
        ("precision", "precision", _ratio(tp, tp + fp)),
        ("recall", "recall", _ratio(tp, positives)),
        ("f1", "F1", _ratio(2 * tp, tp + fp + positives)),
        ("tp", "true positives", count(tp)),
        ("fp", "false positives", count(fp)),
        ("fn", "false negatives", count(positives - tp)),
    )
    return [
        element("div", element("dt", name), element("dd", value, id=f"at-{key}"))
        for key, name, value in shown
    ]


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


def _exact(rows: Thresholds, at: int) -> str:
    """Return all digits of a threshold: fewer could flag other rows."""
    return repr(float(rows.threshold[at])).removesuffix(".0")


def _ratio(part: float, whole: float) -> str:
    return f"{part / whole:.3f}" if whole else NOTHING
