"""The figure: test mAP against the batch that each loss affords."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rankwise.report import Figure
from rankwise.theory import mean_of
from reproductions.drawing import COLORS, canvas, plain, png
from reproductions.retrieval.tables import of_method, with_interval
from reproductions.retrieval_cost.measure import Cell


def batch_figure(benches: Mapping[str, Sequence[Cell]], name: str) -> Figure:
    """Test mAP by batch of one set, with intervals; the label has the steps that were done."""
    drawing, ((axes,),) = canvas(1, 1, width=7.0, height=3.4)
    plain(axes, x="images in a batch", y="test mAP")
    said = []
    cells = benches[name]
    for number, method in enumerate(dict.fromkeys(cell.method for cell in cells)):
        own = of_method(cells, method)
        mean, steps = mean_of([c.map for c in own]), mean_of([c.steps for c in own]).value
        half = mean.half_width()
        axes.errorbar(
            [own[0].batch],
            [mean.value],
            yerr=None if math.isnan(half) else [[half], [half]],
            fmt="os^D"[number // len(COLORS) % 4],
            color=COLORS[number % len(COLORS)],
            capsize=3,
            label=f"{method}, {steps:.0f} steps",
        )
        said.append(f"{method} {with_interval(mean)} at {own[0].batch} images")
    axes.set_xscale("log", base=2)
    axes.legend(fontsize=7, frameon=False)
    words = f"{name}, equal time for all. {'; '.join(said)}."
    return Figure(png(drawing), words, words)
