"""Boxes as (n, 4) tensors x1, y1, x2, y2 in pixels: areas, overlaps, suppression, regression."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rankwise.checks import require_shape

_BLOCK = 2048  # boxes that are compared with each other at a time
_MAX_LOG_RATIO = math.log(1000 / 16)  # of dw and dh: no object is 62 times as wide as its anchor
_MIN_SIDE = 1e-6  # pixels, below which the logarithm of a side has no meaning


def box_area(boxes: Tensor) -> Tensor:
    """Compute the areas of boxes.

    Args:
        boxes: (…, 4).

    Returns:
        (…,); 0 for a box with x2 < x1 or y2 < y1.

    Example:
        >>> import torch
        >>> from rankwise.vision import box_area
        >>> box_area(torch.tensor([[0.0, 0, 10, 5], [3, 3, 2, 9]]))
        tensor([50.,  0.])
    """
    sides = (boxes[..., 2:] - boxes[..., :2]).clamp_min(0)
    return sides[..., 0] * sides[..., 1]


def iou(a: Tensor, b: Tensor) -> Tensor:
    """Compute the intersection over union of every box of ``a`` with every box of ``b``.

    Args:
        a: (n, 4).
        b: (m, 4).

    Returns:
        (n, m); 0 where neither box has an area.

    Example:
        >>> import torch
        >>> from rankwise.vision import iou
        >>> iou(torch.tensor([[0.0, 0, 10, 10]]), torch.tensor([[0.0, 0, 10, 5], [5, 5, 15, 15]]))
        tensor([[0.5000, 0.1429]])
    """
    a, b = _precise(a), _precise(b)
    common = _common_area(a.unsqueeze(-2), b.unsqueeze(-3))
    return _ratio(common, box_area(a).unsqueeze(-1) + box_area(b).unsqueeze(-2) - common)


def giou(a: Tensor, b: Tensor) -> Tensor:
    """Compute the generalized intersection over union of pairs of boxes.

    IoU − |C ∖ (A∪B)|/|C| with C the smallest box around both. Value and gradient are finite for
    boxes without area, too: 0/0 counts as 0.

    Args:
        a: (n, 4).
        b: (n, 4).

    Returns:
        (n,), in [−1, 1].

    Example:
        >>> import torch
        >>> from rankwise.vision import giou
        >>> giou(torch.tensor([[0.0, 0, 10, 10]]), torch.tensor([[10.0, 0, 20, 10]]))
        tensor([0.])

    Reference:
        Rezatofighi et al. 2019, "Generalized intersection over union".
    """
    a, b = _precise(a), _precise(b)
    common = _common_area(a, b)
    union = box_area(a) + box_area(b) - common
    low, high = torch.minimum(a[..., :2], b[..., :2]), torch.maximum(a[..., 2:], b[..., 2:])
    enclosing = box_area(torch.cat([low, high], dim=-1))
    return _ratio(common, union) - _ratio(enclosing - union, enclosing)


@torch.no_grad()
def nms(boxes: Tensor, scores: Tensor, classes: Tensor, threshold: float = 0.6) -> Tensor:
    """Suppress boxes that overlap a better one of their class (greedy, class by class).

    Args:
        boxes: (n, 4).
        scores: (n,). Of equal scores the first box comes first.
        classes: (n,).
        threshold: IoU with a better box of the same class above which a box is dropped.

    Returns:
        The indices of the boxes that are kept, best first.

    Raises:
        ValueError: Where the shapes do not match.

    Example:
        >>> import torch
        >>> from rankwise.vision import nms
        >>> boxes = torch.tensor([[0.0, 0, 10, 10], [0, 0, 10, 9], [20, 20, 30, 30]])
        >>> nms(boxes, torch.tensor([0.8, 0.9, 0.5]), torch.tensor([0, 0, 0]))
        tensor([1, 2])
    """
    require_shape("boxes", boxes, len(boxes), 4)
    require_shape("scores", scores, len(boxes))
    require_shape("classes", classes, len(boxes))
    order = torch.argsort(scores, descending=True, stable=True)
    kept = order[:0]
    for part in order.split(_BLOCK):
        free = part[~_overlaps(boxes, classes, part, kept, threshold).any(1)]
        kept = torch.cat([kept, free[_survivors(_overlaps(boxes, classes, free, free, threshold))]])
    return kept


def encode_boxes(anchors: Tensor, boxes: Tensor) -> Tensor:
    """Compute box regression targets: the differences of boxes from anchors.

    Args:
        anchors: (n, 4).
        boxes: (n, 4).

    Returns:
        (n, 4): dx, dy in sides of the anchor, dw, dh as logarithms of the ratio of the sides.

    Example:
        >>> import torch
        >>> from rankwise.vision import encode_boxes
        >>> anchor = torch.tensor([[0.0, 0, 10, 10]])
        >>> encode_boxes(anchor, torch.tensor([[5.0, 0, 15, 10]]))
        tensor([[0.5000, 0.0000, 0.0000, 0.0000]])

    Reference:
        Girshick et al. 2014, "Rich feature hierarchies", appendix C.
    """
    center, side = _center_and_side(_precise(anchors))
    box_center, box_side = _center_and_side(_precise(boxes))
    size = (box_side.clamp_min(_MIN_SIDE) / side.clamp_min(_MIN_SIDE)).log()
    return torch.cat([(box_center - center) / side.clamp_min(_MIN_SIDE), size], dim=-1)


def decode_boxes(anchors: Tensor, deltas: Tensor) -> Tensor:
    """Compute the boxes of regression outputs: the inverse of :func:`encode_boxes`.

    dw and dh are clamped to ±4.1 (62 times the anchor), so that the outputs of an untrained network
    are boxes.

    Args:
        anchors: (n, 4).
        deltas: (n, 4): dx, dy, dw, dh.

    Returns:
        (n, 4).

    Example:
        >>> import torch
        >>> from rankwise.vision import decode_boxes
        >>> decode_boxes(torch.tensor([[0.0, 0, 10, 10]]), torch.tensor([[0.5, 0, 0, 0]]))
        tensor([[ 5.,  0., 15., 10.]])
    """
    deltas = _precise(deltas)
    center, side = _center_and_side(_precise(anchors))
    center = center + deltas[..., :2] * side
    half = side * deltas[..., 2:].clamp(-_MAX_LOG_RATIO, _MAX_LOG_RATIO).exp() / 2
    return torch.cat([center - half, center + half], dim=-1)


def _overlaps(
    boxes: Tensor, classes: Tensor, these: Tensor, those: Tensor, threshold: float
) -> Tensor:
    """Whether these boxes overlap those of the same class too much, (these, those)."""
    same = classes[these].unsqueeze(1) == classes[those]
    return same & (iou(boxes[these], boxes[those]) > threshold)


def _survivors(overlaps: Tensor) -> Tensor:
    """Return which boxes, sorted from the best, are kept.

    A box is kept if no better box that is kept overlaps it. After t rounds of that rule the first t
    boxes are decided whatever the start, so it ends; in practice after a few rounds.
    """
    better = overlaps.tril(-1).float()
    kept = torch.ones(len(better), dtype=torch.bool, device=better.device)
    while True:
        again = better @ kept.float() == 0
        if torch.equal(again, kept):
            return kept
        kept = again


def _common_area(a: Tensor, b: Tensor) -> Tensor:
    low, high = torch.maximum(a[..., :2], b[..., :2]), torch.minimum(a[..., 2:], b[..., 2:])
    return box_area(torch.cat([low, high], dim=-1))


def _ratio(part: Tensor, whole: Tensor) -> Tensor:
    """part/whole, 0 with a gradient of 0 where the whole is 0."""
    nonzero = whole > 0
    return torch.where(nonzero, part / torch.where(nonzero, whole, 1), 0)


def _center_and_side(boxes: Tensor) -> tuple[Tensor, Tensor]:
    low, high = boxes[..., :2], boxes[..., 2:]
    return (low + high) / 2, high - low


def _precise(boxes: Tensor) -> Tensor:
    """An area of pixels overflows half precision."""
    return boxes.to(torch.promote_types(boxes.dtype, torch.float32))
