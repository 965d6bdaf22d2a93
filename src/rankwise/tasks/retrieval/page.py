"""The page of a run: what it came to, how it got there, and what was asked for."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankwise.data.images import RetrievalSplits
from rankwise.extras import require
from rankwise.report import Figure, Section, Table, render_report, write_whole
from rankwise.report.verdict import Verdict
from rankwise.retrieval import RetrievalResult
from rankwise.tasks.retrieval.settings import Settings
from rankwise.tasks.retrieval.training import Trained

__all__ = ["curve_figure", "results_table", "settings_table", "write_page"]

_COLORS = ("#9e9e9e", "#00796b", "#c62828", "#5e35b1")

Results = dict[str, dict[str, RetrievalResult]]


def write_page(
    out: Path,
    settings: Settings,
    splits: RetrievalSplits,
    trained: Trained,
    results: Results,
    *,
    verdict: Verdict,
    remarks: Sequence[str] = (),
) -> Path:
    """``index.html``, whose path is returned."""
    seen = len(set(splits.train.classes) & set(splits.test.classes))
    classes = f"{seen} of {len(splits.test.classes)} test classes were" if seen else "no class was"
    sections = [
        verdict.section(),
        Section(
            "Retrieval on the whole gallery",
            [f"Every test image ranks all the others; {classes} trained on."],
            tables=[results_table(results)],
            figures=[_precision_recall(results)],
        ),
        Section("Training", figures=[curve_figure(trained)]),
        Section("Data", [*splits.describe().splitlines(), *remarks]),
        Section("Settings", tables=[settings_table(settings)]),
    ]
    return write_whole(out / "index.html", render_report("Image retrieval", sections))


def results_table(results: Results) -> Table:
    """One row for each network and gallery."""
    rows, queries, left_out, hits = [], 0, 0, []
    for network, galleries in results.items():
        for gallery, result in galleries.items():
            hits = list(result.hit_at)
            queries, left_out = max(queries, result.queries), max(left_out, result.left_out)
            rows.append(
                (
                    network,
                    gallery,
                    f"{result.map:.4f}{_reach(result.standard_error)}",
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


def _reach(error: float) -> str:
    """Half of the interval; a single query has none."""
    return "" if math.isnan(error) else f" ± {1.96 * error:.4f}"


def settings_table(settings: Settings) -> Table:
    """All settings of a run, a row each."""
    rows = [
        (f"{section}.{name}", str(value))
        for section, values in settings.model_dump().items()
        for name, value in values.items()
    ]
    return Table(("setting", "value"), rows)


def _precision_recall(results: Results) -> Figure:
    canvas, axes = _axes("recall", "mean precision")
    lines = [(f"{n}, {g}", r) for n, by in results.items() for g, r in by.items()]
    for number, (name, result) in enumerate(lines):
        color = _COLORS[number % len(_COLORS)]
        axes.plot(result.recall, result.precision, color=color, linewidth=1.3, label=name)
    axes.set_ylim(0, 1)
    axes.legend(fontsize=8, frameon=False)
    areas = "; ".join(f"{name}: mAP {result.map:.3f}" for name, result in lines)
    return _figure(canvas, f"Mean precision at each recall. {areas}.")


def curve_figure(trained: Trained) -> Figure:
    """Loss and validation over the steps."""
    canvas, axes = _axes("step", "mean loss of the batches")
    steps = [row["step"] for row in trained.history]
    losses = [row["loss"] for row in trained.history]
    axes.plot(steps, losses, ".-", color=_COLORS[0], linewidth=1.1)
    words = f"The loss (gray) over {int(steps[-1])} steps, {losses[0]:.3f} to {losses[-1]:.3f}"
    if "map" in trained.history[-1]:
        right = axes.twinx()
        values = [row["map"] for row in trained.history]
        if math.isfinite(trained.start):
            steps, values = [0, *steps], [trained.start, *values]
        right.plot(steps, values, ".-", color=_COLORS[1])
        right.set_ylabel("mAP of validation", fontsize=9, color=_COLORS[1])
        right.tick_params(labelsize=8)
        right.spines["top"].set_visible(False)
        when = f"after step {trained.best_step}" if trained.best_step else "before training"
        words += f", and mAP of validation; the best, {when}, was kept"
    return _figure(canvas, words + ".")


def _axes(across: str, upwards: str) -> tuple[Any, Any]:
    require("rankwise.tasks.retrieval", "matplotlib")
    from matplotlib.figure import Figure as Canvas  # noqa: PLC0415  (an extra)

    canvas = Canvas(figsize=(7.0, 3.4), layout="constrained")
    axes = canvas.subplots()
    axes.set_xlabel(across, fontsize=9)
    axes.set_ylabel(upwards, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines["top"].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    return canvas, axes


def _figure(canvas: Any, words: str) -> Figure:
    buffer = io.BytesIO()
    # Without the date and version the same data make the same file.
    canvas.savefig(buffer, format="png", dpi=130, metadata={"Software": None})
    return Figure(buffer.getvalue(), words, words)
