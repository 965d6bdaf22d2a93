"""The tables and the figure of the study: rows objectives, columns metrics."""

from __future__ import annotations

import torch

from rankwise.report import Figure, Table
from rankwise.theory import Mean
from reproductions.drawing import canvas, png
from reproductions.fidelity.measure import METRICS, OBJECTIVES, REFERENCE
from reproductions.fidelity.reading import Means, best_rows, low, own_cells

_CAPTION = (
    "First row: the metric after cross-entropy. Others: what the objective adds to it, mean and "
    "half of the 95 % interval of the paired difference. "
)


def table_of(means: Means, gains: Means, title: str) -> Table:
    """Every objective on every metric of one problem."""
    own, best = set(own_cells()), best_rows(gains)
    rows = [[REFERENCE, *(f"{means[REFERENCE, criterion].value:.3f}" for criterion in METRICS)]]
    for name in OBJECTIVES:
        cells = []
        for criterion in METRICS:
            gain = gains[name, criterion]
            top = gain.value == gains[best[criterion], criterion].value
            mark = ("▸" if (name, criterion) in own else "") + ("★" if top else "")
            cells.append(f"{mark}{gain.value:+.3f} ± {gain.half_width():.3f}")
        rows.append([name, *cells])
    caption = f"{title} {_CAPTION}▸ the own family, ★ the best of the column."
    return Table(["objective", *METRICS], rows, caption)


def in_thousandths(means: Means, gains: Means, lists: Means) -> Table:
    """One list for the width of a terminal, and the lists on each row's own metric."""
    best = best_rows(gains)
    first = {criterion: f"{1e3 * means[REFERENCE, criterion].value:.0f}" for criterion in METRICS}
    rows: list[list[str]] = [[REFERENCE, *first.values(), ""]]
    own = dict(reversed(list(own_cells())))
    for name in OBJECTIVES:
        cells = [
            ("★" if gains[name, criterion].value == gains[best[criterion], criterion].value else "")
            + _short(gains, name, criterion)
            for criterion in METRICS
        ]
        rows.append([name, *cells, _short(lists, name, own[name])])
    caption = (
        f"In thousandths. {_CAPTION}★ the best of the column. Last column: on the problem of "
        "lists, its own metric."
    )
    return Table(["objective", *METRICS, "own, lists"], rows, caption)


def _short(gains: Means, name: str, criterion: str) -> str:
    gain = gains[name, criterion]
    return f"{1e3 * gain.value:+.0f}±{1e3 * gain.half_width():.0f}"


def leaders(best: dict[str, str], ahead: dict[str, tuple[str, Mean]]) -> Table:
    """Who is first in each column, and by how much."""
    own, rows = set(own_cells()), []
    for criterion in METRICS:
        other, mean = ahead[criterion]
        whose = "yes" if (best[criterion], criterion) in own else "no"
        lead = f"{mean.value:.4f} ± {mean.half_width():.4f}"
        rows.append([METRICS[criterion], best[criterion], whose, other, lead])
    return Table(
        ["metric", "best row", "its own family", "best of the others", "ahead by"],
        rows,
        "One list. The others: the other families where the own one is first, else the own one. "
        "The lead is that on the same problems, with half of its 95 % interval.",
    )


def own_metric(one: Means, lists: Means) -> Table:
    """Every objective on the metrics of its own family, on both problems."""
    rows = []
    for name, criterion in own_cells():
        cells = []
        for gains in (one, lists):
            gain = gains[name, criterion]
            cells += [
                f"{gain.value:+.3f} ± {gain.half_width():.3f}",
                "yes" if low(gain) > 0 else "no",
            ]
        rows.append([OBJECTIVES[name], METRICS[criterion], *cells])
    header = ["objective", "own metric", "one list", "above 0", "lists", "above 0"]
    return Table(
        header,
        rows,
        "What every objective adds to cross-entropy on the metrics of its own family, and whether "
        "the interval is above 0.",
    )


def figure_of(gains: Means) -> Figure:
    """The table of one list as colors."""
    figure, axes = canvas(1, 1, width=9.0, height=0.27 * len(OBJECTIVES) + 1.6)
    place, own = axes[0, 0], set(own_cells())
    values = torch.tensor(
        [[gains[name, criterion].value for criterion in METRICS] for name in OBJECTIVES]
    )
    # Each column in units of its largest change, so that all metrics can be compared.
    shares = values / values.abs().amax(0).clamp_min(1e-12)
    place.imshow(shares, cmap="PuOr_r", vmin=-1, vmax=1, aspect="auto")
    place.set_xticks(range(len(METRICS)), METRICS.values(), rotation=25, ha="right", fontsize=8)
    place.set_yticks(range(len(OBJECTIVES)), OBJECTIVES.values(), fontsize=8)
    for row, name in enumerate(OBJECTIVES):
        for column, criterion in enumerate(METRICS):
            dark = abs(float(shares[row, column])) > 0.6
            weight = "bold" if (name, criterion) in own else "normal"
            text = f"{float(values[row, column]):+.3f}"
            color = "white" if dark else "#1d2730"
            place.text(
                column, row, text, ha="center", va="center", fontsize=7, color=color, weight=weight
            )
    described = "What every objective adds to every metric over cross-entropy, as a colored table."
    caption = "One list. Change against cross-entropy; bold: the metric's own family."
    return Figure(png(figure), described, caption)
