"""The report of a run: its results, its training and its settings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from rankwise.data.images import ClassSplits
from rankwise.report import Section, Table
from rankwise.report.verdict import Verdict
from rankwise.tasks.classification.evaluate import Evaluation
from rankwise.tasks.classification.settings import Settings
from rankwise.vision import run
from rankwise.vision.run import History, curve_figure

Results = Mapping[str, Evaluation]


def write_report(
    out: Path,
    settings: Settings,
    splits: ClassSplits,
    trained: History,
    results: Results,
    *,
    verdict: Verdict,
    remarks: Sequence[str] = (),
) -> Path:
    """Write ``index.html``, and return its path."""
    section = Section(
        "Test images, ranked for every class",
        ["Every class ranks all test images by its logit; its own should stand first."],
        tables=[results_table(results), classes_table(list(results.values())[-1])],
    )
    return run.write_report(
        out,
        "Classification",
        [section],
        training=Section("Training", figures=[curve_figure(trained)]),
        data=[*splits.describe().splitlines(), *remarks],
        settings=settings,
        verdict=verdict,
    )


def results_table(results: Results) -> Table:
    """Return one row for each network."""
    rows = [
        (name, *map(_shown, (one.map, one.mean_auroc, one.mean_partial_auroc, one.top_1)))
        for name, one in results.items()
    ]
    first = next(iter(results.values()))
    classes = sum(not math.isnan(value) for value in first.ap)
    mean = "" if classes == 1 else f"; AP and the areas are means over {classes} classes"
    caption = f"{first.images} images{mean}; partial AUROC: false positive rate ≤ {first.max_fpr:g}"
    return Table(("network", "AP", "AUROC", "partial AUROC", "top-1"), rows, f"{caption}.")


def classes_table(result: Evaluation) -> Table:
    """Return one row for each class."""
    rows = [
        (name, result.positives[i], *map(_shown, (ap, result.auroc[i], result.partial_auroc[i])))
        for i, (name, ap) in enumerate(zip(result.classes, result.ap, strict=True))
    ]
    caption = "A class without test images, or with all of them, has nothing to rank: –."
    return Table(("class", "images", "AP", "AUROC", "partial AUROC"), rows, caption)


def _shown(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4f}"
