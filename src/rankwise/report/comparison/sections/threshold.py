"""The threshold explorer: a slider over thresholds with their precision, recall and cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context

import numpy as np

from rankwise.metrics._binomial import share_interval
from rankwise.report.charts import BROAD, Axis, Frame, line, linear_axis, segment
from rankwise.report.comparison.curves import Floats, Levels, levels_of
from rankwise.report.comparison.run import Point, Run
from rankwise.report.elements import Markup, chips, element, figure, fill, note
from rankwise.report.format import NOTHING, count, decimal
from rankwise.report.html import Section

_COSTS = {"fp": 1, "fn": 10}  # to begin with
_NAMES = {"f1": "F1", "tp": "true positives", "fp": "false positives", "fn": "false negatives"}
_NAMES |= {f"{name}-95": f"{name} 95 %" for name in ("precision", "recall")}
_EXPLORER = """<div class="explorer"><div>{chart}<div class="slider">
<label for="threshold-slider">Threshold ({kind})</label>
<input id="threshold-slider" type="range" min="0" max="{last}" step="1" value="{at}"
 aria-valuetext="{threshold}">
<div class="buttons">{rule}<button type="button" id="best-f1" class="quiet-button">Best F1</button>
<button type="button" id="cheapest" class="quiet-button">Cheapest</button></div></div></div>
<div>{point}<dl class="numbers">{numbers}</dl><div class="costs"><h3>Costs</h3>{costs}
<div class="total"><span>Total</span><span></span><output id="sum-total">{total}</output></div>
<p id="cheapest-summary" class="note">Cheapest: {lowest} at {where}.</p></div></div></div>"""
_COST = """<div><label for="cost-{key}">Cost of a {name}</label>
<input id="cost-{key}" type="number" min="0" step="any" value="{cost}" inputmode="decimal">
<output id="sum-{key}" for="cost-{key}">{sum}</output></div>"""
_RULE = '<button type="button" id="by-rule" class="quiet-button">{rule}</button>'
ROWS = 160  # before those that may be the best ones are added


@dataclass(frozen=True)
class Thresholds:
    """Rows by ascending threshold; "flagged" is a value at or above it, the last row flags none."""

    threshold: Floats  # of few digits where they flag the same rows; infinite in the last row
    true_positives: Floats
    false_positives: Floats
    positives: float
    best_f1: int  # its row
    by_rule: int | None = None  # the row of the threshold that a rule has chosen

    @property
    def false_negatives(self) -> Floats:
        """Positives below each threshold."""
        return self.positives - self.true_positives

    def cost(self, false_positive: float, false_negative: float) -> Floats:
        """Return the cost of every row."""
        return false_positive * self.false_positives + false_negative * self.false_negatives

    def cheapest(self, false_positive: float, false_negative: float) -> int:
        """Return the row with the least cost, the highest threshold among equals."""
        cost = self.cost(false_positive, false_negative)
        return len(cost) - 1 - int(np.argmin(cost[::-1]))


def thresholds_of(levels: Levels, above: float | None = None) -> Thresholds:
    """Return a few hundred levels, among them the best F1 and the cheapest for any two costs.

    The lowest level above the threshold ``above`` of a rule is one of them, too.

    A cost is linear in the two rates, so its least value is at a corner of the convex hull of the
    ROC curve (Provost & Fawcett 2001): with all corners kept, the cheapest row is exact.
    """
    flagged, last = levels.flagged, len(levels.score) - 1
    steps = np.geomspace(flagged[0], flagged[-1], ROWS)
    spaced = np.minimum(np.searchsorted(flagged, steps), last)
    best = int(np.argmax(2 * levels.positives / (flagged + levels.positives[-1])))
    chosen = None if above is None else int((levels.score > above).sum()) - 1
    wanted = [] if chosen is None or chosen < 0 else [chosen]
    kept = np.unique(np.concatenate([spaced, _corners(levels), [best, last], wanted]).astype(int))
    kept = kept[::-1]
    below = np.append(levels.score, -np.inf)[kept + 1]
    cuts = map(_cut, levels.score[kept].tolist(), below.tolist())
    return Thresholds(
        np.array([*cuts, np.inf]),
        np.append(levels.positives[kept], 0.0),
        np.append(levels.negatives[kept], 0.0),
        float(levels.positives[-1]),
        int(np.flatnonzero(kept == best)[0]),
        None if chosen is None else int(np.append(np.flatnonzero(kept == chosen), len(kept))[0]),
    )


def _cut(level: float, below: float) -> float:
    """Return the number with the fewest digits that is at most a level and above the next."""
    for digits in range(3, 17):
        short = float(Context(digits, ROUND_FLOOR).create_decimal(repr(level)))
        if short > below:
            return short
    return level


def _corners(levels: Levels) -> list[int]:
    """Return the levels at the corners of the upper convex hull of the ROC curve."""
    x, y = ([*mass.tolist(), 0.0] for mass in (levels.negatives, levels.positives))
    hull = [-1]  # the origin, last in both
    for place in np.flatnonzero(np.diff(levels.positives, prepend=0.0) > 0).tolist():
        while len(hull) > 1:
            a, b = hull[-2:]
            if (x[b] - x[a]) * (y[place] - y[a]) < (y[b] - y[a]) * (x[place] - x[a]):
                break
            hull.pop()  # below the line from the corner before it
        hull.append(place)
    return hull[1:]


def unit_range(scores: Floats) -> Floats:
    """Scale scores to 0–1, keeping their order; infinite ones stand at the ends."""
    finite = scores[np.isfinite(scores)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    if not low < high:
        return np.where(scores > high, 1.0, np.where(scores < low, 0.0, 0.5))
    return np.clip((scores / 2 - low / 2) / (high / 2 - low / 2), 0.0, 1.0)


def explorer(run: Run) -> Section:
    """Return a slider over thresholds of the recommended candidate.

    It is set to the threshold of the rule that the run was given, else to the best F1.
    """
    given, chosen = run.predictions, run.recommended
    probability = given.probabilities.get(chosen.number)
    values = unit_range(given.scores[chosen.number]) if probability is None else probability
    point = run.operating_point
    levels = levels_of(values, given.target, given.weight)
    # The scale of the slider is the run's own, and so is that of a threshold on probabilities.
    fits = point is not None and probability is not None and point.column == "probability"
    rows = thresholds_of(levels, point.threshold if fits and point is not None else None)
    kind = "score scaled to 0–1" if probability is None else "probability"
    scaled = (
        "This run has no calibrated probabilities: the threshold is on scores scaled to the range "
        "from 0 to 1, which are not probabilities. "
    )
    words = note(
        "Rows of the test part at or above the threshold are flagged by ",
        element("strong", chosen.title),
        ". ",
        scaled if probability is None else None,
        "The steps of the slider are spaced by the number of flagged rows. The intervals are those "
        "of a share for a threshold that is given (95 %, Clopper–Pearson).",
    )
    exact = [repr(each).removesuffix(".0") for each in rows.threshold.tolist()]
    last, cheapest = len(exact) - 1, rows.cheapest(*_COSTS.values())
    at = rows.best_f1 if rows.by_rule is None else rows.by_rule
    tp, fp, fn = rows.true_positives, rows.false_positives, rows.false_negatives
    flagged, total = tp + fp, rows.cost(*_COSTS.values())
    # The last row flags none: it has no precision, so that line ends before it.
    rates = {
        "precision": tp[:-1] / flagged[:-1],
        "recall": tp / rows.positives,
        "f1": 2 * tp / (flagged + rows.positives),
    }
    places = sorted({round(n * max(0, last - 1) / 5) for n in range(6)})
    ticks = tuple((float(place), f"{rows.threshold[place]:.2g}") for place in places)
    axis = Axis(f"threshold ({kind})", 0.0, float(max(1, last)), ticks)
    heights = linear_axis("precision, recall, F1", 0, 1)
    frame = Frame(axis, heights, **BROAD)
    # Weighted rows count by their effective sample size.
    draws = np.array(levels.sizes) / (levels.positives[-1], levels.negatives[-1])
    counted = {
        "precision": (tp * draws[0], tp * draws[0] + fp * draws[1]),
        "recall": (tp * draws[0], np.full(len(tp), rows.positives * draws[0])),
    }
    ends = {name: np.array(share_interval(*pair)) for name, pair in counted.items()}
    numbers = {"threshold": exact[at], "flagged": count(flagged[at])}
    for name, rate in rates.items():
        numbers[name] = f"{rate[at]:.3f}" if at < len(rate) else NOTHING
        if name in ends:
            low, high = ends[name][:, at]
            numbers[f"{name}-95"] = f"{low:.2f}–{high:.2f}"
    numbers |= {name: count(n[at]) for name, n in {"tp": tp, "fp": fp, "fn": fn}.items()}
    shown = fill(
        _EXPLORER,
        chart=_chart(frame, rates, at),
        kind=kind,
        last=last,
        at=at,
        threshold=exact[at],
        rule=fill(_RULE, rule=point.rule) if fits and point is not None else "",
        point=_rule_note(point) if point is not None else "",
        numbers=[
            element("div", element("dt", _NAMES.get(n, n)), element("dd", value, id=f"at-{n}"))
            for n, value in numbers.items()
        ],
        costs=[
            fill(_COST, key=key, name=_NAMES[key][:-1], cost=cost, sum=count(cost * errors[at]))
            for (key, cost), errors in zip(_COSTS.items(), (fp, fn), strict=True)
        ],
        total=count(total[at]),
        lowest=count(total[cheapest]),
        where="no row flagged" if cheapest == last else f"a threshold of {exact[cheapest]}",
    )
    data = {
        "threshold": [*rows.threshold.tolist()[:-1], None],
        "tp": _short(tp),
        "fp": _short(fp),
        "positives": rows.positives,
        "best": rows.best_f1,
        "rule": rows.by_rule,
        **{f"{name}_ends": ends[name].round(3).T.tolist() for name in ends},
        "px": [frame.x(place) for place in range(last + 1)],
        "top": frame.y(1),
        "bottom": frame.y(0),
    }
    return Section("Threshold", body=[words, shown], charts={"threshold": data})


def _rule_note(point: Point) -> Markup:
    """Return the operating point of the rule, with its intervals, in words."""
    names = {"precision": "precision", "recall": "recall", "fpr": "false positive rate"}
    rates = [
        f"{words} {decimal(rate.value)} ({decimal(rate.low)} – {decimal(rate.high)})"
        for key, words in names.items()
        if (rate := point.rates.get(key)) is not None
    ]
    where = f"{point.column} above {point.threshold:.4g}: {count(point.flagged)} rows flagged"
    return note(
        element("strong", f"{point.rule}: "), f"{', '.join([where, *rates])}. {point.meaning}"
    )


def _chart(frame: Frame, rates: Mapping[str, Floats], at: int) -> Markup:
    x = frame.x(at)
    image = frame.render(
        [line(frame, range(len(y)), y.tolist(), f"line {name}") for name, y in rates.items()],
        element("path", class_="line cost", id="cost-line"),
        segment("marker cheapest", -9, frame.top, -9, frame.floor, id="cheapest-marker"),
        segment("marker", x, frame.top, x, frame.floor, id="threshold-marker"),
        label="Precision, recall and F1 against the threshold",
    )
    names = {name: _NAMES.get(name, name) for name in rates}
    return figure(image, chips({**names, "cost": "cost, as a share of the highest"}))


def _short(values: Floats) -> list[float]:
    return [int(v) if v == int(v) else round(v, 3) for v in values.tolist()]
