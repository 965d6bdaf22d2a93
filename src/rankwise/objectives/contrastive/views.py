"""Anchors as lists: two views of the same things, in one modality or in two."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from rankwise.checks import require_ids, require_shape
from rankwise.objectives.embeddings import normalized, require_matrix


class ContrastiveLists(NamedTuple):
    """Arguments of an objective, one list for every anchor: ``loss(**lists._asdict())``.

    Attributes:
        scores: Similarities, shape (anchors, compared).
        target: True for the positive of each anchor.
        mask: False for the anchor itself, and for a pair without any negative; None where all
            count.
        list_ids: Which list of the data set each anchor is, shape (anchors,), or None.

    Example:
        >>> import torch
        >>> from rankwise.objectives import GlobalContrastive, two_modalities
        >>> lists = two_modalities(torch.eye(2), torch.eye(2))
        >>> GlobalContrastive(None, temperature=1.0)(**lists._asdict())  # cosines 1 and 0
        tensor(-1.)
    """

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
    """Compute the similarities of two views of the same items: 2B anchors against 2B embeddings.

    The positive of an anchor is its second view. The anchor itself is masked, and all the rest are
    negatives.

    On several processes there are two ways, both equal to training in one process. Either gather
    ``first``, ``second`` and ``item_ids`` by :func:`~rankwise.distributed.gather_with_gradient`,
    and every process computes the whole loss. Or every process keeps its own anchors: gather with
    ``shared=True``, pass the embeddings of the rest as ``others``, and wrap the objective in
    :class:`~rankwise.distributed.AcrossProcesses`.

    Args:
        first: Embeddings of the first view, shape (B, dimension).
        second: Embeddings of the second view, same shape.
        item_ids: Ids of the B items in the data set. Both views of an item share a memory.
        others: More negatives for all anchors, shape (n, dimension), such as the embeddings of
            other processes.
        normalize: Whether to use cosines; else inner products.

    Returns:
        Lists of 2B anchors, those of ``first`` first.

    Example:
        >>> import torch
        >>> from rankwise.objectives import two_views
        >>> lists = two_views(torch.eye(2), torch.eye(2), torch.tensor([5, 7]))
        >>> lists.scores[0], lists.target[0]  # lists.mask[0] leaves out the first item, the anchor
        (tensor([1., 0., 1., 0.]), tensor([False, False,  True, False]))
        >>> lists.list_ids
        tensor([5, 7, 5, 7])
    """
    _check(("first", "second"), first, second, item_ids)
    size = len(first)
    anchors = normalized(torch.cat([first, second]), normalize)
    compared = anchors
    if others is not None:
        compared = torch.cat([anchors, normalized(_more("others", others, first), normalize)])
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
    """Compute the similarities of B images with their B texts, in both directions.

    An image and its text have a memory each: the id of the text is ``num_items`` + id. An objective
    with a memory is therefore made with ``num_lists=2 * num_items``.

    Args:
        images: Embeddings of the images, shape (B, dimension).
        texts: Embeddings of their texts, same shape.
        item_ids: Ids of the B pairs, below ``num_items``.
        num_items: Number of pairs in the data set; needed with ``item_ids``.
        others: More images and texts to compare with, such as those of other processes; see
            :func:`two_views`.
        normalize: Whether to use cosines; else inner products.

    Returns:
        Lists of 2B anchors, the images first.

    Example:
        >>> import torch
        >>> from rankwise.objectives import two_modalities
        >>> lists = two_modalities(torch.eye(2), torch.eye(2), torch.tensor([0, 1]), num_items=100)
        >>> lists.scores.shape, lists.list_ids
        (torch.Size([4, 2]), tensor([  0,   1, 100, 101]))
    """
    _check(("images", "texts"), images, texts, item_ids)
    if item_ids is not None:
        if num_items is None:
            raise ValueError(
                "num_items is needed with item_ids: the texts have ids of their own, num_items + id"
            )
        require_ids("item_ids", item_ids, num_items)
        item_ids = torch.cat([item_ids, item_ids + num_items])
    images, texts = normalized(images, normalize), normalized(texts, normalize)
    both_ways = images @ texts.T
    forth, back = both_ways, both_ways.T
    if others is not None:
        more_images = normalized(_more("others[0]", others[0], images), normalize)
        more_texts = normalized(_more("others[1]", others[1], texts), normalize)
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


def _more(name: str, embeddings: Tensor, like: Tensor) -> Tensor:
    require_shape(name, embeddings, "items", like.shape[1])
    return embeddings.to(like.dtype)


def _check(names: tuple[str, str], first: Tensor, second: Tensor, item_ids: Tensor | None) -> None:
    require_matrix(names[0], first)
    if second.shape != first.shape:
        raise ValueError(
            f"{names[1]} must have the shape {tuple(first.shape)} of the other view, "
            f"got {tuple(second.shape)}"
        )
    if item_ids is not None and item_ids.shape != first.shape[:1]:
        raise ValueError(
            f"item_ids must have one id per item, shape ({len(first)},), "
            f"got {tuple(item_ids.shape)}"
        )
