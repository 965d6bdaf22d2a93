"""Evaluation of a network on whole galleries."""

from __future__ import annotations

import math
from pathlib import Path

from torch import Tensor

from rankwise.data.images import ImageSet, RetrievalSplits
from rankwise.report import write_json
from rankwise.retrieval import RetrievalResult
from rankwise.retrieval import evaluate as evaluate_embeddings
from rankwise.tasks.retrieval.network import EmbeddingNet
from rankwise.tasks.retrieval.settings import Settings
from rankwise.training import Place
from rankwise.vision.image_dataset import ImageDataset, compute_outputs
from rankwise.vision.run import require_part

Results = dict[str, dict[str, RetrievalResult]]  # by network, then by gallery


def evaluate(
    network: EmbeddingNet,
    images: ImageSet | ImageDataset,
    settings: Settings,
    *,
    queries: ImageSet | None = None,
    workers: int = 0,
    place: Place | None = None,
) -> RetrievalResult:
    """Rank the whole set for every image of it, or for every query."""

    def embed(dataset: ImageDataset) -> Tensor:
        return compute_outputs(network, dataset, workers=workers, place=place)

    how = settings.augmentations
    gallery = images if isinstance(images, ImageDataset) else ImageDataset(images, how)
    embeddings, labels, hits = embed(gallery), gallery.images.labels, settings.data.hits
    if queries is None or queries is gallery.images:
        return evaluate_embeddings(embeddings, labels, hits=hits)
    asked = embed(ImageDataset(queries, how))
    return evaluate_embeddings(embeddings, labels, asked, queries.labels, hits=hits)


def evaluate_splits(
    network: EmbeddingNet,
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


def write_results(out: Path, results: Results) -> None:
    """Write ``results.json``: by network, then by gallery."""
    content = {
        name: {gallery: as_json(result) for gallery, result in by_gallery.items()}
        for name, by_gallery in results.items()
    }
    write_json(out / "results.json", content)
