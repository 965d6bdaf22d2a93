"""How the chosen candidate spreads its scores."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rankwise.report.comparison.charts import Axis, Frame, bars, dot, line, linear_axis, whisker
from rankwise.report.comparison.distributions import (
    Bin,
    brier_score,
    histogram_of,
    meet,
    reliability,
    values_by_group,
)
from rankwise.report.comparison.format import count, counted, decimal, full_name, percent
from rankwise.report.comparison.markup import (
    Markup,
    Part,
    color_class,
    element,
    figure,
    note,
    table,
)
from rankwise.report.comparison.run import Candidate, Floats, Run


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


BARS = 20


def groups(run: Run) -> Part:
    """A histogram over the lists for the chosen candidate, and one for the baseline."""
    shown = [run.recommended]
    if run.baseline is not None and run.baseline is not run.recommended:
        shown += [each for each in run.drawn if each is run.baseline]
    values = [values_by_group(run.metric, run.predictions, each.number) for each in shown]
    known = [found[~np.isnan(found)] for found in values]
    edges = np.linspace(0, max([1.0, *(float(v.max()) for v in known if len(v))]), BARS + 1)
    shares = [np.histogram(v, edges)[0] / max(1, len(v)) for v in known]
    tallest = 1.08 * max([0.01, *(float(share.max()) for share in shares)])
    pictures = [
        _picture(run, each, (edges, share, tallest), found)
        for each, share, found in zip(shown, shares, known, strict=True)
    ]
    told = [
        f"The metric is a mean over {counted(len(known[0]), 'list')} of the test part; curves over "
        "rows of different lists would compare what is never ranked together. "
    ]
    left_out = len(values[0]) - len(known[0])
    if left_out:
        told.append(f"Lists with nothing to rank, which have no value: {count(left_out)}. ")
    if len(values) == 2:
        found = meet(*values)
        told.append(
            f"Against {shown[1].name}, list by list: better in {count(found.better)}, equal in "
            f"{count(found.equal)}, worse in {count(found.worse)}."
        )
    return Part("lists", "Lists", [note(told), element("div", pictures, class_="pair")])


def _picture(
    run: Run, each: Candidate, bar: tuple[Floats, Floats, float], values: Floats
) -> Markup:
    edges, share, tallest = bar
    frame = Frame(
        linear_axis(full_name(run.metric), 0, float(edges[-1])),
        linear_axis("share of lists", 0, tallest, lambda v: f"{100 * v:g} %", most=5),
    )
    shape = bars(frame, edges.tolist(), share.tolist(), "bars")
    picture = frame.drawn(
        element("g", shape, class_=color_class(run, each)),
        label=f"Histogram of {full_name(run.metric)} over lists, {each.name}",
    )
    middle = decimal(float(np.median(values))) if len(values) else "–"
    return figure(picture, [element("strong", each.name), f": median {middle}."])
