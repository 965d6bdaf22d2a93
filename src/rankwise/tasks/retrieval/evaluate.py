"""Evaluation of a network on whole galleries."""

from __future__ import annotations

import math

from rankwise.data.images import ImageSet, RetrievalSplits
from rankwise.report import Figure, Mean, Section, Table
from rankwise.report.plots import COLORS, as_figure, new_axes
from rankwise.retrieval import RetrievalResult
from rankwise.retrieval import evaluate as evaluate_embeddings
from rankwise.tasks.retrieval.settings import Settings
from rankwise.vision.image_dataset import ImageDataset, compute_outputs
from rankwise.vision.network import ImageNetwork
from rankwise.vision.run import require_part

Results = dict[str, dict[str, RetrievalResult]]  # by network, then by gallery


def evaluate(
    network: ImageNetwork,
    images: ImageSet,
    settings: Settings,
    *,
    queries: ImageSet | None = None,
    workers: int = 0,
) -> RetrievalResult:
    """Rank the whole set for every image of it, or for every query."""
    how, hits = settings.augmentations, settings.data.hits
    embeddings = compute_outputs(network, ImageDataset(images, how), workers)
    if queries is None or queries is images:
        return evaluate_embeddings(embeddings, images.labels, hits=hits)
    asked = compute_outputs(network, ImageDataset(queries, how), workers)
    return evaluate_embeddings(embeddings, images.labels, asked, queries.labels, hits=hits)


def evaluate_splits(
    network: ImageNetwork,
    splits: RetrievalSplits,
    settings: Settings,
    part: str = "test",
    *,
    workers: int = 0,
) -> dict[str, RetrievalResult]:
    """Evaluate a part: on every gallery, where the test images have several."""
    if part == "test" and splits.galleries is not None:
        return {
            name: evaluate(network, gallery, settings, queries=queries, workers=workers)
            for name, (queries, gallery) in splits.galleries.items()
        }
    images: ImageSet = getattr(splits, part)
    require_part(images, part)
    return {part: evaluate(network, images, settings, workers=workers)}


def as_json(result: RetrievalResult) -> dict[str, object]:
    """Return the numbers of a result, without those of single queries."""
    error = result.standard_error
    return {
        "map": result.map,
        "standard_error": None if math.isnan(error) else error,  # of one query there is none
        "hit_at": {str(k): value for k, value in result.hit_at.items()},
        "r_precision": result.r_precision,
        "map_at_r": result.map_at_r,
        "queries": result.queries,
        "gallery": result.gallery,
        "left_out": result.left_out,
        "recall": result.recall.tolist(),
        "precision": result.precision.tolist(),
    }


def _listed(results: Results) -> list[tuple[str, str, RetrievalResult]]:
    return [(network, name, one) for network, by in results.items() for name, one in by.items()]


def results_table(results: Results) -> Table:
    """Return one row for each network and gallery."""
    listed = _listed(results)
    rows = [
        (
            network,
            gallery,
            str(Mean(one.map, one.standard_error, one.queries)),
            *(f"{v:.4f}" for v in (*one.hit_at.values(), one.r_precision, one.map_at_r)),
        )
        for network, gallery, one in listed
    ]
    hits = (f"R@{k}" for k in listed[-1][2].hit_at)
    queries = max(one.queries for _, _, one in listed)
    left_out = max(one.left_out for _, _, one in listed)
    caption = f"{queries} queries at most; ± is a 95 % interval over them, not over trainings."
    if left_out:
        caption += f" {left_out} images alone in their class were no queries."
    return Table(("network", "gallery", "mAP", *hits, "R-precision", "MAP@R"), rows, caption)


def report_section(splits: RetrievalSplits, results: Results) -> Section:
    """Return the section of the results in the report."""
    seen = len(set(splits.train.classes) & set(splits.test.classes))
    classes = f"{seen} of {len(splits.test.classes)} test classes were" if seen else "no class was"
    return Section(
        "Retrieval on the whole gallery",
        [f"Every test image ranks all the others; {classes} trained on."],
        tables=[results_table(results)],
        figures=[_precision_recall(results)],
    )


def _precision_recall(results: Results) -> Figure:
    canvas, axes = new_axes("recall", "mean precision")
    curves = [(f"{network}, {gallery}", one) for network, gallery, one in _listed(results)]
    for number, (name, result) in enumerate(curves):
        color = COLORS[number % len(COLORS)]
        axes.plot(result.recall, result.precision, color=color, linewidth=1.3, label=name)
    axes.set_ylim(0, 1)
    axes.legend(fontsize=8, frameon=False)
    areas = "; ".join(f"{name}: mAP {result.map:.3f}" for name, result in curves)
    return as_figure(canvas, f"Mean precision at each recall. {areas}.")
