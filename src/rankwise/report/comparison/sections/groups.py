"""A run that ranks many lists: how the metric is spread over them."""

from __future__ import annotations

import numpy as np

from rankwise.report.comparison.drawn import Frame, bars, linear_axis
from rankwise.report.comparison.markup import Markup, element
from rankwise.report.comparison.measured.groups import meet, values_by_group
from rankwise.report.comparison.measured.levels import Floats
from rankwise.report.comparison.part import Part, figure, note
from rankwise.report.comparison.run import Candidate, Run
from rankwise.report.comparison.series import color_class
from rankwise.report.comparison.words import count, counted, decimal, full_name

__all__ = ["groups"]

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
