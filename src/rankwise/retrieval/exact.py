"""The items of a gallery nearest to each query, found by looking at all of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.checks import require_count
from rankwise.retrieval.inputs import embeddings_of

__all__ = ["Nearest", "asked_of", "best_first", "nearest"]

_BLOCK = 1 << 23  # scores at once, 32 MB


class Nearest(NamedTuple):
    """(queries, k), best first; row −1 and score −∞ where there are no more."""

    scores: NDArray[np.float32]
    rows: NDArray[np.int64]


@torch.no_grad()
def nearest(embeddings: Any, queries: Any, k: int = 10) -> Nearest:
    """The ``k`` items with the largest cosines to every query: exact, in blocks of a product."""
    gallery = embeddings_of("embeddings", embeddings, True)
    return best_first(gallery, asked_of(queries, gallery.shape[1]), k)


def asked_of(queries: Any, dimension: int) -> Tensor:
    """Queries of length one, with the dimensions of the gallery."""
    asked = embeddings_of("queries", queries, True)
    if asked.shape[1] != dimension:
        raise ValueError(
            f"queries must have the {dimension} dimensions of embeddings, got {asked.shape[1]}"
        )
    return asked


def best_first(gallery: Tensor, asked: Tensor, k: int) -> Nearest:
    """:func:`nearest` of unit vectors that were checked before."""
    require_count("k", k)
    scores = np.full((len(asked), k), -np.inf, np.float32)
    rows = np.full((len(asked), k), -1, np.int64)
    there = min(k, len(gallery))
    at_once = max(1, _BLOCK // max(1, len(gallery)))
    for start in range(0, len(asked) if there else 0, at_once):
        block = slice(start, start + at_once)
        found = (asked[block] @ gallery.T).topk(there)
        scores[block, :there], rows[block, :there] = found.values.numpy(), found.indices.numpy()
    return Nearest(scores, rows)
