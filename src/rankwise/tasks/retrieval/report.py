"""The report of a run: its results, its training and its settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from rankwise.data.images import RetrievalSplits
from rankwise.report import Figure, Section, Table
from rankwise.report.plots import COLORS, as_figure, new_axes
from rankwise.report.verdict import Verdict
from rankwise.tasks.retrieval.evaluate import Results
from rankwise.tasks.retrieval.settings import Settings
from rankwise.vision import run
from rankwise.vision.run import History, curve_figure


def write_report(
    out: Path,
    settings: Settings,
    splits: RetrievalSplits,
    trained: History,
    results: Results,
    *,
    verdict: Verdict,
    remarks: Sequence[str] = (),
) -> Path:
    """Write ``index.html``, and return its path."""
    seen = len(set(splits.train.classes) & set(splits.test.classes))
    classes = f"{seen} of {len(splits.test.classes)} test classes were" if seen else "no class was"
    section = Section(
        "Retrieval on the whole gallery",
        [f"Every test image ranks all the others; {classes} trained on."],
        tables=[results_table(results)],
        figures=[_precision_recall(results)],
    )
    return run.write_report(
        out,
        "Image retrieval",
        [section],
        training=Section("Training", figures=[curve_figure(trained)]),
        data=[*splits.describe().splitlines(), *remarks],
        settings=settings,
        verdict=verdict,
    )


def results_table(results: Results) -> Table:
    """Return one row for each network and gallery."""
    rows, queries, left_out, hits = [], 0, 0, []
    for network, galleries in results.items():
        for gallery, result in galleries.items():
            hits = list(result.hit_at)
            queries, left_out = max(queries, result.queries), max(left_out, result.left_out)
            rows.append(
                (
                    network,
                    gallery,
                    f"{result.map:.4f}{_interval(result.standard_error)}",
                    *(f"{value:.4f}" for value in result.hit_at.values()),
                    f"{result.r_precision:.4f}",
                    f"{result.map_at_r:.4f}",
                )
            )
    names = ("network", "gallery", "mAP", *(f"R@{k}" for k in hits), "R-precision", "MAP@R")
    caption = f"{queries} queries at most; ± is a 95 % interval over them, not over trainings."
    if left_out:
        caption += f" {left_out} images alone in their class were no queries."
    return Table(names, rows, caption)


def _interval(error: float) -> str:
    """Half of the interval; a single query has none."""
    return "" if math.isnan(error) else f" ± {1.96 * error:.4f}"


def _precision_recall(results: Results) -> Figure:
    canvas, axes = new_axes("recall", "mean precision")
    curves = [(f"{n}, {g}", r) for n, by in results.items() for g, r in by.items()]
    for number, (name, result) in enumerate(curves):
        color = COLORS[number % len(COLORS)]
        axes.plot(result.recall, result.precision, color=color, linewidth=1.3, label=name)
    axes.set_ylim(0, 1)
    axes.legend(fontsize=8, frameon=False)
    areas = "; ".join(f"{name}: mAP {result.map:.3f}" for name, result in curves)
    return as_figure(canvas, f"Mean precision at each recall. {areas}.")
