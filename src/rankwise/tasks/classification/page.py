"""The page of a run: what it came to, how it got there, and what was asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from rankwise.data.images.image_set import ClassSplits
from rankwise.report import Section, Table, render_report, write_whole
from rankwise.report.verdict import Verdict
from rankwise.tasks.classification.evaluate import Judged
from rankwise.tasks.classification.settings import Settings
from rankwise.tasks.classification.training import Trained
from rankwise.tasks.retrieval.page import curve_figure, settings_table

__all__ = ["classes_table", "results_table", "write_page"]

Results = Mapping[str, Judged]


def write_page(
    out: Path,
    settings: Settings,
    splits: ClassSplits,
    trained: Trained,
    results: Results,
    *,
    verdict: Verdict,
    remarks: Sequence[str] = (),
) -> Path:
    """``index.html``, whose path is returned."""
    kept = list(results.values())[-1]
    sections = [
        verdict.section(),
        Section(
            "Test images, ranked for every class",
            ["Every class ranks all test images by its logit; its own should stand first."],
            tables=[results_table(results), classes_table(kept)],
        ),
        Section("Training", figures=[curve_figure(cast(Any, trained))]),
        Section("Data", [*splits.describe().splitlines(), *remarks]),
        Section("Settings", tables=[settings_table(cast(Any, settings))]),
    ]
    return write_whole(out / "index.html", render_report("Classification", sections))


def results_table(results: Results) -> Table:
    """One row for each network."""
    rows = [
        (
            name,
            _shown(found.map),
            _shown(found.mean_auroc),
            _shown(found.mean_partial_auroc),
            _shown(found.top_1),
        )
        for name, found in results.items()
    ]
    first = next(iter(results.values()))
    classes = sum(not math.isnan(value) for value in first.ap)
    mean = "" if classes == 1 else f"; AP and the areas are means over {classes} classes"
    caption = f"{first.images} images{mean}; partial AUROC: false positive rate ≤ {first.max_fpr:g}"
    return Table(("network", "AP", "AUROC", "partial AUROC", "top-1"), rows, f"{caption}.")


def classes_table(found: Judged) -> Table:
    """One row for each class."""
    rows = [
        (
            name,
            found.positives[i],
            _shown(found.ap[i]),
            _shown(found.auroc[i]),
            _shown(found.partial_auroc[i]),
        )
        for i, name in enumerate(found.classes)
    ]
    caption = "A class without test images, or with all of them, has nothing to rank: –."
    return Table(("class", "images", "AP", "AUROC", "partial AUROC"), rows, caption)


def _shown(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4f}"
