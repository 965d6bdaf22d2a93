"""The distribution of the scores, the calibration of the probabilities, the metric by list."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np

from rankwise.naming import metric
from rankwise.report import charts
from rankwise.report import elements as html
from rankwise.report import format as fmt
from rankwise.report.comparison import markup
from rankwise.report.comparison.curves import Floats, brier_score, reliability
from rankwise.report.comparison.run import Predictions, Run
from rankwise.report.elements import Markup, element
from rankwise.report.html import Section, Table
from rankwise.report.verdict import Record

BARS = 40
_LIST_BARS = 20
_OUTER = 0.001  # maximum share of each class beyond the outermost bars
_QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
_NAMES = {0.0: "lowest", 0.5: "median", 1.0: "highest"}  # of quantiles


def _percents(value: float) -> str:
    return f"{100 * value:g} %"


def scores(run: Run) -> Section:
    """Return a histogram for each class: positives upwards, negatives downwards."""
    given = run.predictions
    chosen = given.scores[run.recommended.number]
    edges, positives, negatives = histogram_of(chosen, given.target, given.weight)
    tallest = 1.08 * max(float(positives.max()), float(negatives.max()))
    upwards = charts.linear_axis("", 0, tallest, _percents, max_ticks=4)
    both = {(sign * value, text) for value, text in upwards.ticks for sign in (1, -1)}
    frame = charts.Frame(
        charts.linear_axis("score", float(edges[0]), float(edges[-1])),
        charts.Axis("share of the class per bar", -tallest, tallest, tuple(sorted(both))),
        left=50,
        **charts.BROAD,
    )
    image = frame.render(
        charts.bars(frame, edges.tolist(), positives.tolist(), "bars positive"),
        charts.bars(frame, edges.tolist(), (-negatives).tolist(), "bars negative"),
        charts.segment("axis", frame.left, frame.y(0), frame.end, frame.y(0)),
        label="Histogram of scores: positives above the line, negatives below it",
    )
    names = {"positive": "positives, upwards", "negative": "negatives, downwards"}
    words = html.note(
        "Scores of ",
        element("strong", run.recommended.title),
        " on the test part. Each class adds up to 100\u202f%, so that a rare class is visible; "
        "the few scores beyond the ends are in the outer bars. The less the two overlap, the "
        "better they are ranked.",
    )
    shown = html.figure(image, html.chips(names))
    body = [words, element("div", shown, _quantile_table(given, chosen), class_="explorer")]
    return Section("Scores", body=body)


def _quantile_table(given: Predictions, chosen: Floats) -> Markup:
    classes = [given.target == 1, given.target != 1]
    columns = [
        np.quantile(chosen[at], _QUANTILES, weights=given.weight[at], method="inverted_cdf")
        for at in classes
    ]
    finite = chosen[np.isfinite(chosen)]
    span = np.ptp(finite) if len(finite) else 0.0
    digits = max(0, 2 - math.floor(math.log10(span))) if span > 0 else 3
    rows = [
        [_NAMES.get(share, f"{100 * share:g}\u202f%"), *(fmt.decimal(v, digits) for v in values)]
        for share, *values in zip(_QUANTILES, *columns, strict=True)
    ]
    rows.append(["rows", *(fmt.count(int(each.sum())) for each in classes)])
    caption = "Quantiles of the scores of each class."
    return Table(["", "Positives", "Negatives"], rows, caption).render()


def histogram_of(scores: Floats, target: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the edges of bars, and the shares of the positives and of the negatives in each.

    What lies beyond the edges is in the outer bars.
    """
    classes = [target == 1, target != 1]
    finite = [scores[at & np.isfinite(scores)] for at in classes]
    outer = [np.quantile(each, [_OUTER, 1 - _OUTER]) if len(each) else (0, 0) for each in finite]
    low, high = float(np.min(outer)), float(np.max(outer))
    if not low < high:
        low, high = low - 0.5, low + 0.5
    edges = np.linspace(low, high, BARS + 1)
    inside = np.clip(scores, low, high)
    positives, negatives = (
        np.histogram(inside[at], edges, weights=weight[at])[0] / weight[at].sum() for at in classes
    )
    return edges, positives, negatives


def calibration(run: Run) -> Section:
    """Return a reliability plot with its bins as a table, and the Brier score."""
    given = run.predictions
    chosen = given.probabilities.get(run.recommended.number)
    if chosen is None:
        words = "This run has no calibrated probabilities, so there is nothing to compare."
        return Section("Calibration", body=html.note(words))
    bins = reliability(chosen, given.target, given.weight)
    known = [each for each in bins if not math.isnan(each.observed)]
    top = min(1.0, 1.05 * max(max(each.predicted, each.high) for each in known))
    across, upwards = (charts.linear_axis(title, 0, top) for title in ("predicted", "observed"))
    frame = charts.Frame(across, upwards)
    path = charts.line(frame, [each.predicted for each in known], [each.observed for each in known])
    marks, rows = [], []
    for each in bins:
        predicted, observed = fmt.percent(each.predicted), fmt.percent(each.observed)
        size, positives = fmt.count(each.rows), fmt.count(each.positives)
        rows.append([predicted, observed, size, positives])
        if each in known:
            title = f"predicted {predicted}, observed {observed}: {positives} of {size}"
            marks.append(charts.whisker(frame, each.predicted, each.low, each.high))
            marks.append(charts.dot(frame, each.predicted, each.observed, 5.0, title))
    image = frame.render(
        charts.line(frame, [0, top], [0, top], "chance"),
        element("g", path, marks, class_="series best"),
        label="Observed share of positives against predicted probability",
    )
    header = ["Predicted", "Observed", "Rows", "Positive"]
    table = Table(header, rows, "Bins by predicted probability.").render()
    body = [
        html.note(
            "On the dotted diagonal a probability of 30\u202f% means that 30\u202f% are positive. "
            "The bins have about equal numbers of expected positives; the bars are 95\u202f% "
            "Wilson intervals."
        ),
        html.note(element("strong", "Brier score"), f" (lower is better): {_brier(run)}."),
        html.pair(html.figure(image, "Reliability on the test part."), table),
    ]
    return Section("Calibration", body=body)


def _brier(run: Run) -> str:
    given = run.predictions
    prior = float(np.average(given.target, weights=given.weight))
    compared = [c for c in (run.recommended, run.rival) if c and c.number in given.probabilities]
    values = [(given.probabilities[each.number], each.title) for each in compared]
    values.append((np.array(prior), f"predicting {fmt.percent(prior)} for every row"))
    return "; ".join(
        f"{brier_score(said, given.target, given.weight):.4f} for {name}" for said, name in values
    )


def groups(run: Run) -> Section:
    """Return histograms of the metric over lists, of the recommended and of the baseline."""
    shown = [run.recommended, *(each for each in run.drawn if each is run.rival)]
    values = [values_by_group(run.metric, run.predictions, each.number) for each in shown]
    known = [found[~np.isnan(found)] for found in values]
    edges = np.linspace(0, max([1.0, *(float(v.max()) for v in known if len(v))]), _LIST_BARS + 1)
    shares = [np.histogram(v, edges)[0] / max(1, len(v)) for v in known]
    tallest = 1.08 * max([0.01, *(float(share.max()) for share in shares)])
    metric = fmt.full_name(run.metric)
    frame = charts.Frame(
        charts.linear_axis(metric, 0, float(edges[-1])),
        charts.linear_axis("share of lists", 0, tallest, _percents, max_ticks=5),
    )
    figures = []
    for each, share, found in zip(shown, shares, known, strict=True):
        shape = charts.bars(frame, edges.tolist(), share.tolist(), "bars")
        colored = element("g", shape, class_=markup.color_class(run, each))
        image = frame.render(colored, label=f"Histogram of {metric} over lists, {each.title}")
        middle = fmt.decimal(float(np.median(found))) if len(found) else fmt.NOTHING
        figures.append(html.figure(image, [element("strong", each.title), f": median {middle}."]))
    words = [
        f"The metric is a mean over {fmt.counted(len(known[0]), 'list')} of the test part; curves "
        "over rows of different lists would compare rows that are never ranked together. "
    ]
    if left_out := len(values[0]) - len(known[0]):
        words.append(f"Lists with nothing to rank, which have no value: {fmt.count(left_out)}. ")
    if len(values) == 2:
        better, equal, worse = map(fmt.count, Record.of(values[0] - values[1]))
        words.append(
            f"Against {shown[1].title}, list by list: better in {better}, equal in {equal}, "
            f"worse in {worse}."
        )
    return Section("Lists", body=[html.note(words), html.pair(figures)])


def values_by_group(name: str, predictions: Predictions, candidate: int) -> Floats:
    """Return one value per group, NaN where the metric has none."""
    weight = None if (predictions.weight == 1).all() else predictions.weight
    scores, target, group = predictions.scores[candidate], predictions.target, predictions.group
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # lists of one class: their count is shown
        return replace(metric(name).setting, average="none")(scores, target, None, group, weight)
