"""Which anchor is to find which object: adaptive training sample selection."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.checks import require_count
from rankwise.tasks.detection.anchors import Anchors
from rankwise.tasks.detection.boxes import iou

__all__ = ["atss"]


@torch.no_grad()
def atss(anchors: Anchors, boxes: Tensor, k: int = 9) -> Tensor:
    """The number of the box that each anchor is to find, (A,); −1: background.

    ATSS (Zhang et al. 2020, Algorithm 1). The candidates of a box are, on every level, the ``k``
    anchors whose centers are nearest to its own. Those whose IoU with the box reaches the mean
    plus the standard deviation of the candidates' IoUs, and whose center lies inside the box,
    find it. An anchor of several boxes takes the one it overlaps most. As in the paper nothing
    more is done for a box that no candidate is good enough for: it has no anchor.
    """
    require_count("k", k)
    if boxes.dim() != 2 or boxes.shape[1] != 4:
        raise ValueError(f"boxes must have shape (n, 4), got {tuple(boxes.shape)}")
    nobody = torch.full((len(anchors),), -1, dtype=torch.long, device=anchors.boxes.device)
    if len(boxes) == 0 or len(anchors) == 0:
        return nobody
    boxes = boxes.to(anchors.boxes)
    candidates = _nearest(anchors, (boxes[:, :2] + boxes[:, 2:]) / 2, k)
    overlap = iou(boxes, anchors.boxes)
    of_candidates = overlap.gather(1, candidates)
    enough = of_candidates.mean(1, keepdim=True)
    if candidates.shape[1] > 1:
        enough = enough + of_candidates.std(1, keepdim=True)
    centers = anchors.centers[candidates]
    inside = ((centers > boxes[:, None, :2]) & (centers < boxes[:, None, 2:])).all(-1)
    found = inside & (of_candidates >= enough)
    claims = torch.full_like(overlap, -1.0)
    claims.scatter_(1, candidates, of_candidates.masked_fill(~found, -1.0))
    best, number = claims.max(0)
    return torch.where(best >= 0, number, nobody)


def _nearest(anchors: Anchors, centers: Tensor, k: int) -> Tensor:
    """The anchors with the nearest centers on every level, (boxes, candidates)."""
    # In place of the distance its square: the order is the same.
    apart = (anchors.centers - centers.unsqueeze(1)).square().sum(-1)
    start, found = 0, []
    for size in anchors.levels:
        level = apart[:, start : start + size]
        found.append(level.topk(min(k, size), dim=1, largest=False).indices + start)
        start += size
    return torch.cat(found, dim=1)
