"""Exact search for the items of a gallery nearest to each query."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from rankwise.checks import require_count, require_finite, require_floating


def embeddings_of(name: str, given: object, unit: bool) -> Tensor:
    """Return (items, dimension) in float32 on the CPU, as unit vectors with ``unit``."""
    values = torch.as_tensor(given).detach()
    if values.dim() != 2:
        raise ValueError(f"{name} must have shape (items, dimension), got {tuple(values.shape)}")
    require_floating(name, values)
    values = values.to("cpu", torch.float32)
    require_finite(name, values, "look for an overflow in the model")
    if not unit or values.numel() == 0:
        return values
    # Squares of very large and very small numbers leave single precision; of shares they do not.
    largest = values.abs().amax(dim=1, keepdim=True)
    return normalize(values / torch.where(largest > 0, largest, 1), dim=1)


def labels_of(name: str, given: object, items: int) -> NDArray[np.int64]:
    """Return one integer for each item."""
    values = torch.as_tensor(given).detach().cpu()
    if values.shape != (items,):
        raise ValueError(
            f"{name} must have one label per item, shape ({items},), got {tuple(values.shape)}"
        )
    if values.is_floating_point() or values.is_complex():
        raise ValueError(f"{name} must hold whole numbers, got {values.dtype}")
    return values.long().numpy()


_BLOCK = 1 << 23  # scores in one block, 32 MB


class Nearest(NamedTuple):
    """The nearest items of each query, best first; row −1 and score −∞ where there are no more.

    Attributes:
        scores: Cosines, (queries, k).
        rows: Rows of the gallery, (queries, k).

    Example:
        >>> import torch
        >>> from rankwise.retrieval import nearest
        >>> nearest(torch.eye(3), torch.eye(3)[:1], k=1).scores
        array([[1.]], dtype=float32)
    """

    scores: NDArray[np.float32]
    rows: NDArray[np.int64]


@torch.no_grad()
def nearest(embeddings: object, queries: object, k: int = 10) -> Nearest:
    """Find the ``k`` items with the largest cosines to every query, exactly.

    Args:
        embeddings: Gallery, (items, dimension).
        queries: Queries, (queries, dimension).
        k: Number of items for each query.

    Returns:
        Scores and rows of the gallery, (queries, k), best first.

    Example:
        >>> import torch
        >>> from rankwise.retrieval import nearest
        >>> gallery = torch.tensor([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]])
        >>> nearest(gallery, torch.tensor([[1.0, 0.2]]), k=2).rows
        array([[1, 0]])
    """
    gallery = embeddings_of("embeddings", embeddings, True)
    return best_first(gallery, asked_of(queries, gallery.shape[1]), k)


def asked_of(queries: object, dimension: int, unit: bool = True) -> Tensor:
    """Return queries with the dimensions of the gallery, as unit vectors with ``unit``."""
    asked = embeddings_of("queries", queries, unit)
    if asked.shape[1] != dimension:
        raise ValueError(
            f"queries must have the {dimension} dimensions of embeddings, got {asked.shape[1]}"
        )
    return asked


def best_first(gallery: Tensor, asked: Tensor, k: int) -> Nearest:
    """Return :func:`nearest` of unit vectors that are checked already."""
    require_count("k", k)
    scores = np.full((len(asked), k), -np.inf, np.float32)
    rows = np.full((len(asked), k), -1, np.int64)
    there = min(k, len(gallery))
    rows_per_block = max(1, _BLOCK // max(1, len(gallery)))
    for start in range(0, len(asked) if there else 0, rows_per_block):
        block = slice(start, start + rows_per_block)
        found = (asked[block] @ gallery.T).topk(there)
        scores[block, :there], rows[block, :there] = found.values.numpy(), found.indices.numpy()
    return Nearest(scores, rows)
