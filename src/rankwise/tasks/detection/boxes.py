"""Boxes as (n, 4) tensors x1, y1, x2, y2 in pixels: areas, overlaps and the best of many."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["area", "giou", "iou", "nms"]

_AT_ONCE = 2048  # boxes that are compared with each other at once


def area(boxes: Tensor) -> Tensor:
    """Areas, (n,); 0 for a box that is turned inside out."""
    sides = (boxes[..., 2:] - boxes[..., :2]).clamp_min(0)
    return sides[..., 0] * sides[..., 1]


def iou(a: Tensor, b: Tensor) -> Tensor:
    """Intersection over union of every box of ``a`` with every box of ``b``, (len(a), len(b)).

    0 where neither box has an area.
    """
    a, b = _precise(a), _precise(b)
    common = _common_area(a.unsqueeze(-2), b.unsqueeze(-3))
    return _ratio(common, area(a).unsqueeze(-1) + area(b).unsqueeze(-2) - common)


def giou(a: Tensor, b: Tensor) -> Tensor:
    """Generalized intersection over union of pairs of boxes, (n,)   (Rezatofighi et al. 2019).

    IoU − |C ∖ (A∪B)|/|C| with C the smallest box around both, in [−1, 1]. Finite with a finite
    gradient for boxes without area, too: a ratio of nothing to nothing is 0.
    """
    a, b = _precise(a), _precise(b)
    common = _common_area(a, b)
    union = area(a) + area(b) - common
    around = area(
        torch.cat(
            [torch.minimum(a[..., :2], b[..., :2]), torch.maximum(a[..., 2:], b[..., 2:])], dim=-1
        )
    )
    return _ratio(common, union) - _ratio(around - union, around)


@torch.no_grad()
def nms(boxes: Tensor, scores: Tensor, classes: Tensor, threshold: float = 0.6) -> Tensor:
    """Which boxes stay, best first: none overlaps a better one of its class by more than this.

    Greedy suppression, class by class: a box is dropped if its IoU with a box of its class that
    stays and has a higher score is above ``threshold``. Of equal scores the first comes first.
    """
    for name, value, shape in (
        ("boxes", boxes, (len(boxes), 4)),
        ("scores", scores, (len(boxes),)),
        ("classes", classes, (len(boxes),)),
    ):
        if tuple(value.shape) != shape:
            raise ValueError(f"{name} must have shape {shape}, got {tuple(value.shape)}")
    order = torch.argsort(scores, descending=True, stable=True)
    kept = order[:0]
    for part in order.split(_AT_ONCE):
        free = part[~_overlaps(boxes, classes, part, kept, threshold).any(1)]
        kept = torch.cat([kept, free[_stay(_overlaps(boxes, classes, free, free, threshold))]])
    return kept


def _overlaps(
    boxes: Tensor, classes: Tensor, these: Tensor, those: Tensor, threshold: float
) -> Tensor:
    """Whether these boxes overlap those of the same class too much, (these, those)."""
    same = classes[these].unsqueeze(1) == classes[those]
    return same & (iou(boxes[these], boxes[those]) > threshold)


def _stay(overlaps: Tensor) -> Tensor:
    """Which of some boxes stay, best first, by what overlaps what.

    A box stays if no better box that stays overlaps it. After t rounds of that rule the first t
    boxes are decided whatever the start, so it ends; in practice after a few rounds.
    """
    better = overlaps.tril(-1).float()
    stays = torch.ones(len(better), dtype=torch.bool, device=better.device)
    while True:
        again = better @ stays.float() == 0
        if torch.equal(again, stays):
            return stays
        stays = again


def _common_area(a: Tensor, b: Tensor) -> Tensor:
    top_left = torch.maximum(a[..., :2], b[..., :2])
    bottom_right = torch.minimum(a[..., 2:], b[..., 2:])
    return area(torch.cat([top_left, bottom_right], dim=-1))


def _ratio(part: Tensor, whole: Tensor) -> Tensor:
    """part/whole, 0 with a gradient of 0 where the whole is nothing."""
    something = whole > 0
    return torch.where(something, part / torch.where(something, whole, 1), 0)


def _precise(boxes: Tensor) -> Tensor:
    """An area of pixels overflows half precision."""
    return boxes.to(torch.promote_types(boxes.dtype, torch.float32))
