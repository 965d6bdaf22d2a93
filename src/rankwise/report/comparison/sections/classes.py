"""A target of several classes: every class alone, in a table and in curves."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rankwise.report import charts
from rankwise.report import elements as html
from rankwise.report import format as fmt
from rankwise.report.comparison import curves as measures
from rankwise.report.comparison import markup
from rankwise.report.comparison.run import ClassGain, OfClass, Run
from rankwise.report.elements import Child, Markup, element
from rankwise.report.html import Section, Table

MOST_CURVES = 12  # classes whose curves are drawn: as many as there are colors, plain and dashed


def classes(run: Run) -> Section | None:
    """Return the table of the classes; None in a run without one."""
    if not run.by_class:
        return None
    scale = charts.known_values(each.ap for each in run.by_class)
    color = markup.color_class(run, run.recommended)
    compared = run.rival is not None
    header = ["Class", "Rows", "AP", "95\u202f% interval"]
    header += ["AP difference", "p (Holm)"] if compared else []
    header += ["AUROC", "95\u202f% interval"]
    header += ["AUROC difference", "p (Holm)"] if compared else []
    rows: list[list[Child]] = []
    for each in sorted(run.by_class, key=lambda c: -c.rows):
        reference = each.ap_base.value if compared else math.nan
        row: list[Child] = [
            element("span", each.label, class_="name"),
            fmt.count(each.rows),
            element("strong", fmt.decimal(each.ap.value)),
            charts.interval(each.ap, scale, reference, color),
        ]
        row += _gain(each.ap_gain) if compared else []
        row += [fmt.decimal(each.auc.value), fmt.between(each.auc)]
        row += _gain(each.auc_gain) if compared else []
        rows.append(row)
    against = f" against {run.rival.title}" if run.rival is not None else ""
    note = (
        "Each class is ranked against the rest by the scores of ",
        element("strong", run.recommended.title),
        f", on {run.evaluation}. A row is among the first of its class if it is in the top n by "
        "these scores, n the number of rows of the class. "
        + (
            f"Differences are{against}; p-values are adjusted for the number of classes by Holm’s "
            "method. The mark in an interval is the baseline."
            if compared
            else "This is the baseline itself."
        ),
    )
    table = Table(header, rows, f"{len(rows)} classes, largest first.")
    body = [html.note(note), html.scroll(table.render(), "Table of classes"), _summary(run)]
    return Section("Classes", body=body)


def _gain(gain: ClassGain) -> list[Child]:
    if math.isnan(gain.value):
        return [fmt.NOTHING, fmt.NOTHING]
    word = None
    if gain.p_holm < 0.05 and gain.value != 0:
        kind = ("better", "good") if gain.value > 0 else ("worse", "bad")
        word = element("span", kind[0], class_=f"sure {kind[1]}")
    return [[fmt.signed(gain.value), word], fmt.p_value(gain.p_holm)]


def _summary(run: Run) -> Markup | None:
    """Return for how many classes the recommended candidate is better, by average precision."""
    if run.rival is None:
        return None
    gains = [each.ap_gain for each in run.by_class if not math.isnan(each.ap_gain.value)]
    sure = [gain for gain in gains if gain.p_holm < 0.05]
    better = sum(gain.value > 0 for gain in sure)
    return html.note(
        f"AP is higher for {sum(g.value > 0 for g in gains)} of {len(gains)} classes and lower for "
        f"{sum(g.value < 0 for g in gains)}; after the adjustment {better} are significantly "
        f"better and {len(sure) - better} worse."
    )


def class_curves(run: Run) -> Section:
    """Return the precision–recall and the ROC curve of every class, by the recommended model."""
    given = run.predictions
    scores = given.scores[run.recommended.number]
    drawn = _drawn(run)
    levels = {
        c: measures.levels_of(scores[:, c], (given.target == c).astype(float), given.weight)
        for c in drawn
    }
    axes = {"pr": ("recall", "precision"), "roc": ("false positive rate", "true positive rate")}
    shapes = {"pr": measures.precision_recall_curves, "roc": measures.roc_curves}
    captions = {"pr": "Precision–recall by class.", "roc": "ROC by class; dotted: chance."}
    figures, data = [], {}
    for name, (x, y) in axes.items():
        frame = charts.Frame(charts.linear_axis(x, 0, 1), charts.linear_axis(y, 0, 1))
        found = {c: shapes[name](each) for c, each in levels.items()}
        lines = [
            element(
                "g",
                charts.line(frame, curve.x.tolist(), curve.y.tolist()),
                class_=f"series {markup.color_of_place(place)}",
                data_series=_key(c),
            )
            for place, (c, curve) in enumerate(found.items())
        ]
        dotted = charts.line(frame, (0, 1), (0, 1), "chance") if name == "roc" else None
        label = f"{y} against {x}, one line for each of {len(drawn)} classes".capitalize()
        image = frame.render(dotted, lines, label=label, chart=name)
        figures.append(html.figure(image, captions[name]))
        data[name] = _chart_data(frame, found, x)
    some = ""
    if len(drawn) < len(run.classes):
        some = f" Of {len(run.classes)} classes, the {len(drawn)} with the lowest AP are drawn."
    words = html.note(
        "Every line is a class against the rest, by ",
        element("strong", run.recommended.title),
        f" on the test part.{some} Point at a chart to read values, or focus it and use the arrow "
        "keys.",
    )
    keys = [
        (_key(c), markup.color_of_place(place), run.classes[c]) for place, c in enumerate(drawn)
    ]
    body = [words, markup.class_legend(keys), html.pair(figures)]
    return Section("Curves", body=body, charts=data)


def chart_names(run: Run) -> tuple[dict[str, str], dict[str, str]]:
    """Return the names and the color classes of the classes in charts, by their keys."""
    drawn = _drawn(run) if run.classes else []
    names = {_key(c): run.classes[c] for c in drawn}
    return names, {_key(c): markup.color_of_place(place) for place, c in enumerate(drawn)}


def _drawn(run: Run) -> list[int]:
    """Return the classes whose curves are drawn: those on the test part, of many the worst."""
    present = [c for c in range(len(run.classes)) if (run.predictions.target == c).any()]
    if len(present) <= MOST_CURVES or len(run.by_class) != len(run.classes):
        return present[:MOST_CURVES]
    return sorted(sorted(present, key=lambda c: run.by_class[c].ap.value)[:MOST_CURVES])


def _key(c: int) -> str:
    return f"class-{c}"


def _chart_data(frame: charts.Frame, found: dict[int, measures.Curve], x: str) -> object:
    grid = next(iter(found.values())).x.tolist()
    series = [
        {
            "number": _key(c),
            "y": [float(f"{v:.4g}") for v in curve.y.tolist()],
            "py": [frame.y(v) for v in curve.y.tolist()],
        }
        for c, curve in found.items()
    ]
    x_values, x_places = [float(f"{v:.3g}") for v in grid], [frame.x(v) for v in grid]
    return {"title": x, "digits": 3, "x": x_values, "px": x_places, "series": series}


def among_first(run: Run, candidate: int) -> measures.Floats:
    """Return how likely each test row is among the first of its class, as many as are of it."""
    given = run.predictions
    scores, found = given.scores[candidate], np.zeros(len(given.target))
    for c in range(len(run.classes)):
        own = given.target == c
        if own.any():
            found[own] = in_top(scores[:, c], int(own.sum()))[own]
    return found


def in_top(scores: measures.Floats, k: int) -> measures.Floats:
    """Return how likely each row is among the first k; tied rows share the places left."""
    last = np.partition(scores, -k)[-k]
    above, tied = scores > last, scores == last
    return np.where(above, 1.0, np.where(tied, (k - above.sum()) / tied.sum(), 0.0))


def rarest(classes: Sequence[OfClass]) -> OfClass:
    """Return the class with the fewest rows."""
    return min(classes, key=lambda each: each.rows)
