"""Evaluation of a network on whole galleries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from torch import Tensor

from rankwise.data.images import ImageSet, RetrievalSplits
from rankwise.report import Mean, Section, Table
from rankwise.report.elements import Markup
from rankwise.report.plots import line_chart
from rankwise.retrieval import RetrievalResult, evaluate_hierarchy
from rankwise.retrieval import evaluate as evaluate_embeddings
from rankwise.tasks.retrieval.settings import Settings
from rankwise.vision.gallery import nearest_sentence, neighbors_section, network_title
from rankwise.vision.image_dataset import ImageDataset, compute_outputs
from rankwise.vision.network import ImageNetwork
from rankwise.vision.run import require_part

Results = dict[str, dict[str, RetrievalResult]]  # by network, then by gallery


class Embedded(NamedTuple):
    """A gallery with its embeddings, and those of the queries; None: every image asks."""

    images: ImageSet
    embeddings: Tensor
    queries: ImageSet | None = None
    asked: Tensor | None = None

    def evaluate(self, hits: Sequence[int]) -> RetrievalResult:
        """Rank the whole gallery for every query."""
        labels = None if self.queries is None else self.queries.labels
        given = (self.embeddings, self.images.labels, self.asked, labels)
        found = evaluate_embeddings(*given, hits=hits)
        tree = self.images.tree
        if tree is None:
            return found
        asked = None if self.queries is None else self.queries.tree
        graded = evaluate_hierarchy(self.embeddings, tree, self.asked, asked)
        return replace(found, hierarchical=graded)


def embed(
    network: ImageNetwork,
    images: ImageSet,
    settings: Settings,
    *,
    queries: ImageSet | None = None,
    workers: int = 0,
) -> Embedded:
    """Compute the embeddings of a gallery and of its queries, where these are other images."""

    def of(some: ImageSet) -> Tensor:
        return compute_outputs(network, ImageDataset(some, settings.augmentations), workers)

    if queries is None or queries is images:
        return Embedded(images, of(images))
    return Embedded(images, of(images), queries, of(queries))


def embed_splits(
    network: ImageNetwork,
    splits: RetrievalSplits,
    settings: Settings,
    part: str = "test",
    *,
    workers: int = 0,
) -> dict[str, Embedded]:
    """Compute the embeddings of a part: of every gallery, where the test images have several."""
    if part == "test" and splits.galleries is not None:
        return {
            name: embed(network, gallery, settings, queries=queries, workers=workers)
            for name, (queries, gallery) in splits.galleries.items()
        }
    images: ImageSet = getattr(splits, part)
    require_part(images, part)
    return {part: embed(network, images, settings, workers=workers)}


def as_json(result: RetrievalResult) -> dict[str, object]:
    """Return the numbers of a result, without those of single queries."""
    error = result.standard_error
    return {
        "map": result.map,
        "standard_error": None if math.isnan(error) else error,  # of one query there is none
        "hit_at": {str(k): value for k, value in result.hit_at.items()},
        "r_precision": result.r_precision,
        "map_at_r": result.map_at_r,
        **_graded(result),
        "queries": result.queries,
        "gallery": result.gallery,
        "left_out": result.left_out,
        "recall": result.recall.tolist(),
        "precision": result.precision.tolist(),
    }


def _graded(result: RetrievalResult) -> dict[str, float]:
    """Return the metrics of several label levels, if there are any."""
    found = result.hierarchical
    if found is None:
        return {}
    return {"hierarchical_ap": found.hierarchical_ap, "asi": found.asi, "ndcg": found.ndcg}


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
            *(f"{v:.4f}" for v in _graded(one).values()),
        )
        for network, gallery, one in listed
    ]
    hits = (f"R@{k}" for k in listed[-1][2].hit_at)
    queries = [one.queries for _, _, one in listed]
    most = "At most " if len({*queries}) > 1 else ""
    left_out = max(one.left_out for _, _, one in listed)
    caption = f"{most}{max(queries)} queries; ± is a 95 % interval over them, not over trainings."
    if left_out:
        caption += f" {left_out} images alone in their class were no queries."
    graded = ("H-AP", "ASI", "NDCG") if _graded(listed[-1][2]) else ()
    columns = ("network", "gallery", "mAP", *hits, "R-precision", "MAP@R", *graded)
    return Table(columns, rows, caption)


def sentence(*results: Mapping[str, RetrievalResult]) -> str:
    """Return how often the nearest image is of the right class, before and after training."""
    ranks = (np.concatenate([one.first_rank for one in by.values()]) for by in results)
    return nearest_sentence(*ranks)


def shown_queries(embedded: Mapping[str, Mapping[str, Embedded]]) -> Section:
    """Return the section of a few queries of the first gallery, answered by every network."""
    by = {network_title(name): next(iter(found.values())) for name, found in embedded.items()}
    first = next(iter(by.values()))
    embeddings = {network: one.embeddings for network, one in by.items()}
    asked = {network: one.asked for network, one in by.items() if one.asked is not None}
    return neighbors_section(first.images, embeddings, first.queries, asked or None)


def report_section(splits: RetrievalSplits, results: Results) -> Section:
    """Return the section of the results in the report."""
    seen = len(set(splits.train.classes) & set(splits.test.classes))
    classes = f"{seen} of {len(splits.test.classes)} test" if seen else "none of their"
    return Section(
        "Retrieval on the whole gallery",
        [f"Every test image is a query and ranks all others; {classes} classes were in training."],
        tables=[results_table(results)],
        figures=[_precision_recall(results)],
    )


def _precision_recall(results: Results) -> Markup:
    curves = {f"{network}, {gallery}": one for network, gallery, one in _listed(results)}
    areas = "; ".join(f"{name}: mAP {result.map:.3f}" for name, result in curves.items())
    lines = {name: (one.recall.tolist(), one.precision.tolist()) for name, one in curves.items()}
    words = f"Mean precision at each recall. {areas}."
    return line_chart("recall", "mean precision", lines, words)
