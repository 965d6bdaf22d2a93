"""A network judged on whole galleries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from rankwise.data.images import ImageSet, RetrievalSplits
from rankwise.distributed import gather_with_gradient
from rankwise.errors import UsageError
from rankwise.retrieval import RetrievalResult, evaluate
from rankwise.tasks.retrieval.image_dataset import Pictures
from rankwise.tasks.retrieval.network import EmbeddingNet
from rankwise.tasks.retrieval.settings import Settings
from rankwise.training import Place

__all__ = ["as_json", "embed", "judge", "judge_splits"]

_AT_ONCE = 128  # images through the network


@torch.no_grad()
def embed(
    network: EmbeddingNet, pictures: Pictures, *, workers: int = 0, place: Place | None = None
) -> Tensor:
    """Embeddings of all pictures, on the processor, in the mode of evaluation."""
    place = place or Place()
    training, device = network.training, network.mean.device
    network.eval()
    # Padded, so that all processes have as many, and cut off again.
    most = -(-len(pictures) // place.world_size)
    rows = [min(i * place.world_size + place.rank, len(pictures) - 1) for i in range(most)]
    found = [network(block.to(device)) for block in pictures.blocks(rows, _AT_ONCE, workers)]
    network.train(training)
    own = torch.cat(found)
    if place.world_size == 1:
        return own.cpu()
    together = gather_with_gradient(own).reshape(place.world_size, most, -1)
    return together.transpose(0, 1).reshape(place.world_size * most, -1)[: len(pictures)].cpu()


def judge(
    network: EmbeddingNet,
    images: ImageSet | Pictures,
    settings: Settings,
    *,
    queries: ImageSet | None = None,
    workers: int = 0,
    place: Place | None = None,
) -> RetrievalResult:
    """Every image of a set, or every query, against the whole set."""
    pictures = images if isinstance(images, Pictures) else Pictures(images, settings.augmentations)
    gallery, labels = (
        embed(network, pictures, workers=workers, place=place),
        pictures.images.labels,
    )
    hits: Sequence[int] = settings.data.hits
    if queries is None or queries is pictures.images:
        return evaluate(gallery, labels, hits=hits)
    asked = embed(network, Pictures(queries, settings.augmentations), workers=workers, place=place)
    return evaluate(gallery, labels, asked, queries.labels, hits=hits)


def judge_splits(
    network: EmbeddingNet,
    splits: RetrievalSplits,
    settings: Settings,
    part: str = "test",
    *,
    workers: int = 0,
) -> dict[str, RetrievalResult]:
    """Results of a part: of every gallery, where the test images have several."""
    if part == "test" and splits.galleries is not None:
        return {
            name: judge(network, gallery, settings, queries=queries, workers=workers)
            for name, (queries, gallery) in splits.galleries.items()
        }
    images: ImageSet = getattr(splits, part)
    if len(images) == 0:
        raise UsageError(
            f"there are no {part} images in the division of this data; evaluate another part"
        )
    return {part: judge(network, images, settings, workers=workers)}


def as_json(result: RetrievalResult) -> dict[str, Any]:
    """The numbers of a result, without those of single queries."""
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
