"""Anchors as lists: two views of the same things, in one modality or in two."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from rankwise.checks import require_ids

__all__ = ["ContrastiveLists", "two_modalities", "two_views"]


class ContrastiveLists(NamedTuple):
    """Arguments of an objective: ``loss(**lists._asdict())``."""

    scores: Tensor  # (anchors, compared with) similarities
    target: Tensor  # the other view of the anchor?
    mask: Tensor | None  # False for the anchor itself, and for a pair without any other
    list_ids: Tensor | None  # (anchors,) which list of the data set each anchor is


def two_views(
    first: Tensor,
    second: Tensor,
    item_ids: Tensor | None = None,
    *,
    others: Tensor | None = None,
    normalize: bool = True,
) -> ContrastiveLists:
    """Two views (B, dimension) of the same B things: 2B anchors against the 2B embeddings.

    The positive of an anchor is its other view; itself is left out, and all the rest are negatives.
    ``item_ids`` are the B ids of the things, repeated for both views: their memory is shared.
    ``others`` are more negatives for all anchors, such as the embeddings of other processes.
    ``normalize=False`` takes inner products in place of cosines.

    On several processes either gather first, second and item_ids by
    :func:`~rankwise.distributed.gather_with_gradient` and let all processes do the same, or keep
    the anchors of each process to itself: gather with ``shared=True``, give what is not its own as
    ``others``, and wrap the objective in :class:`~rankwise.distributed.AcrossProcesses`. Both are
    one process's training.
    """
    _check("first", first)
    _check_pair("second", second, first)
    _check_ids(item_ids, first)
    size = len(first)
    anchors = _normalized(torch.cat([first, second]), normalize)
    compared = anchors
    if others is not None:
        compared = torch.cat([anchors, _normalized(_more("others", others, first), normalize)])
    mask = torch.ones(2 * size, len(compared), dtype=torch.bool, device=first.device)
    mask.fill_diagonal_(False)
    target = torch.zeros_like(mask)
    target[:, : 2 * size].fill_diagonal_(True)
    target = target.roll(size, dims=0)  # row i has its mark in the column of its other view
    both = None if item_ids is None else item_ids.repeat(2)
    return ContrastiveLists(anchors @ compared.T, target, mask, both)


def two_modalities(
    images: Tensor,
    texts: Tensor,
    item_ids: Tensor | None = None,
    num_items: int | None = None,
    *,
    others: tuple[Tensor, Tensor] | None = None,
    normalize: bool = True,
) -> ContrastiveLists:
    """Pairs (B, dimension) of images and texts: B images against the texts, B texts the other way.

    ``item_ids`` are the B ids of the pairs, below ``num_items``, the number of pairs in the data
    set. An image and its text have a memory each: the text's id is num_items + id, so that the
    objective is to be made for 2·num_items. ``others`` are more (images, texts) to be compared
    with, as in :func:`two_views`; ``normalize=False`` takes inner products in place of cosines.
    """
    _check("images", images)
    _check_pair("texts", texts, images)
    _check_ids(item_ids, images)
    if item_ids is not None:
        if num_items is None:
            raise ValueError(
                "num_items is needed with item_ids: the texts have ids of their own, num_items + id"
            )
        require_ids("item_ids", item_ids, num_items)
        item_ids = torch.cat([item_ids, item_ids + num_items])
    images, texts = _normalized(images, normalize), _normalized(texts, normalize)
    both_ways = images @ texts.T
    forth, back = both_ways, both_ways.T
    if others is not None:
        more_images = _normalized(_more("others[0]", others[0], images), normalize)
        more_texts = _normalized(_more("others[1]", others[1], texts), normalize)
        if len(more_images) != len(more_texts):
            raise ValueError(
                "others must have as many images as texts, "
                f"got {len(others[0])} and {len(others[1])}"
            )
        forth = torch.cat([forth, images @ more_texts.T], dim=1)
        back = torch.cat([back, texts @ more_images.T], dim=1)
    scores = torch.cat([forth, back])
    target = torch.zeros_like(scores, dtype=torch.bool)
    for rows in target.split(max(1, len(images))):
        rows.fill_diagonal_(True)
    # One pair alone has nothing to be compared with: an empty batch.
    mask = torch.zeros_like(target) if scores.shape[1] == 1 else None
    return ContrastiveLists(scores, target, mask, item_ids)


def _normalized(embeddings: Tensor, normalize: bool) -> Tensor:
    return torch.nn.functional.normalize(embeddings, dim=-1) if normalize else embeddings


def _more(name: str, embeddings: Tensor, like: Tensor) -> Tensor:
    if embeddings.dim() != 2 or embeddings.shape[1] != like.shape[1]:
        raise ValueError(
            f"{name} must have shape (items, {like.shape[1]}), got {tuple(embeddings.shape)}"
        )
    return embeddings.to(like.dtype)


def _check(name: str, embeddings: Tensor) -> None:
    if embeddings.dim() != 2:
        raise ValueError(
            f"{name} must have shape (items, dimension), got {tuple(embeddings.shape)}"
        )


def _check_pair(name: str, embeddings: Tensor, first: Tensor) -> None:
    if embeddings.shape != first.shape:
        raise ValueError(
            f"{name} must have the shape {tuple(first.shape)} of the other view, "
            f"got {tuple(embeddings.shape)}"
        )


def _check_ids(item_ids: Tensor | None, first: Tensor) -> None:
    if item_ids is not None and item_ids.shape != first.shape[:1]:
        raise ValueError(
            f"item_ids must have one id per item, shape ({len(first)},), "
            f"got {tuple(item_ids.shape)}"
        )
