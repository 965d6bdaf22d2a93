"""Anchors: the boxes that a dense detector scores, and their assignment to objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rankwise.checks import require_count, require_positive, require_shape
from rankwise.vision.boxes import box_area, iou


@dataclass(frozen=True)
class Anchors:
    """All anchors of an image, level by level of the feature pyramid.

    Args:
        boxes: (A, 4).
        levels: Number of anchors of each level, in their order.

    Raises:
        ValueError: Where the levels do not add up to the anchors.

    Example:
        >>> from rankwise.vision import grid_anchors
        >>> anchors = grid_anchors([(4, 4), (2, 2)], [8, 16])
        >>> len(anchors), anchors.levels, anchors.centers[0].tolist()
        (20, (16, 4), [4.0, 4.0])
    """

    boxes: Tensor
    levels: tuple[int, ...]

    def __post_init__(self) -> None:
        require_shape("boxes", self.boxes, "anchors", 4)
        if sum(self.levels) != len(self.boxes):
            raise ValueError(
                f"levels must add up to the {len(self.boxes)} anchors, "
                f"got {self.levels}, which is {sum(self.levels)}"
            )

    def __len__(self) -> int:
        return len(self.boxes)

    @property
    def centers(self) -> Tensor:
        """(A, 2): x, y."""
        return (self.boxes[:, :2] + self.boxes[:, 2:]) / 2

    def to(self, device: torch.device | str) -> Anchors:
        """Return the same anchors on a device."""
        return Anchors(self.boxes.to(device), self.levels)


def grid_anchors(
    shapes: Sequence[tuple[int, int]], strides: Sequence[int], scale: float = 8.0
) -> Anchors:
    """Make one square anchor for every cell of every level, row by row.

    Args:
        shapes: (height, width) of the feature map of each level, in cells.
        strides: Pixels between two cells of each level.
        scale: Side of an anchor in strides; its center is that of its cell, (x + ½)·stride.

    Returns:
        The anchors of all levels.

    Raises:
        ValueError: Where there is not one stride per level.

    Example:
        >>> from rankwise.vision import grid_anchors
        >>> grid_anchors([(1, 2)], [8], scale=2.0).boxes
        tensor([[-4., -4., 12., 12.],
                [ 4., -4., 20., 12.]])
    """
    if len(shapes) != len(strides):
        raise ValueError(
            f"strides must be one per level, got {len(strides)} for {len(shapes)} levels"
        )
    require_positive("scale", scale)
    levels = []
    for (height, width), stride in zip(shapes, strides, strict=True):
        require_positive("strides", stride)
        rows, columns = ((torch.arange(side) + 0.5) * stride for side in (height, width))
        y, x = torch.cartesian_prod(rows, columns).unbind(1)
        half = scale * stride / 2
        levels.append(torch.stack([x - half, y - half, x + half, y + half], dim=1))
    boxes = torch.cat(levels) if levels else torch.zeros(0, 4)
    return Anchors(boxes, tuple(map(len, levels)))


@torch.no_grad()
def atss(anchors: Anchors, boxes: Tensor, k: int = 9) -> Tensor:
    """Assign objects to anchors by adaptive training sample selection.

    The candidates of a box are, on every level, the ``k`` anchors with the nearest centers. Those
    whose IoU with the box reaches the mean plus the standard deviation of the candidates' IoUs, and
    whose center lies inside the box, are positive. An anchor of several boxes takes the one it
    overlaps most. As in the paper, a box without a candidate that is good enough has no anchor.

    Args:
        anchors: The anchors of the image.
        boxes: (n, 4), the objects of the image.
        k: Candidates per level.

    Returns:
        (A,): the index of the box of each anchor; −1 is background.

    Raises:
        ValueError: Where boxes are not (n, 4).

    Example:
        >>> import torch
        >>> from rankwise.vision import atss, grid_anchors
        >>> anchors = grid_anchors([(4, 4)], [8], scale=1.0)
        >>> atss(anchors, torch.tensor([[0.0, 0, 16, 8]]), k=2)[:4]
        tensor([ 0,  0, -1, -1])

    Reference:
        Zhang et al. 2020, "Bridging the gap between anchor-based and anchor-free detection",
        Algorithm 1.
    """
    require_count("k", k)
    require_shape("boxes", boxes, "n", 4)
    background = torch.full((len(anchors),), -1, dtype=torch.long, device=anchors.boxes.device)
    if len(boxes) == 0 or len(anchors) == 0:
        return background
    boxes = boxes.to(anchors.boxes)
    candidates = _nearest(anchors, (boxes[:, :2] + boxes[:, 2:]) / 2, k)
    overlap = iou(boxes, anchors.boxes)
    of_candidates = overlap.gather(1, candidates)
    threshold = of_candidates.mean(1, keepdim=True)
    if candidates.shape[1] > 1:
        threshold = threshold + of_candidates.std(1, keepdim=True)
    centers = anchors.centers[candidates]
    inside = ((centers > boxes[:, None, :2]) & (centers < boxes[:, None, 2:])).all(-1)
    positive = inside & (of_candidates >= threshold)
    claims = torch.full_like(overlap, -1.0)
    claims.scatter_(1, candidates, of_candidates.masked_fill(~positive, -1.0))
    best, index = claims.max(0)
    return torch.where(best >= 0, index, background)


def _nearest(anchors: Anchors, centers: Tensor, k: int) -> Tensor:
    """Return the anchors with the nearest centers on every level, (boxes, candidates)."""
    # In place of the distance its square: the order is the same.
    distance = (anchors.centers - centers.unsqueeze(1)).square().sum(-1)
    start, nearest = 0, []
    for level, size in zip(distance.split(anchors.levels, 1), anchors.levels, strict=True):
        nearest.append(level.topk(min(k, size), dim=1, largest=False).indices + start)
        start += size
    return torch.cat(nearest, dim=1)


Assign = Callable[[Anchors, Tensor], Tensor]
"""Function that returns the index of the box of each anchor, −1 for background, as ``atss``."""

Target = Mapping[str, Tensor]
"""The objects of an image: ``boxes`` (n, 4) and ``labels`` (n,), whole numbers from 0."""


@dataclass(frozen=True)
class Matches:
    """The objects of the anchors of a batch; the positives are in the order of the labels."""

    labels: Tensor  # (images, A): the class, −1 for background
    images: Tensor  # (positives,) which image each positive is of
    anchors: Tensor  # (positives,) which anchor it is
    boxes: Tensor  # (positives, 4) its object

    def __len__(self) -> int:
        return len(self.images)


@torch.no_grad()
def match(anchors: Anchors, targets: Sequence[Target], classes: int, assign: Assign) -> Matches:
    """Assign the anchors of every image to its objects; an image without any is background."""
    device = anchors.boxes.device
    labels = torch.full((len(targets), len(anchors)), -1, dtype=torch.long, device=device)
    boxes = [torch.zeros(0, 4, device=device)]
    for image, target in enumerate(targets):
        given, classes_of = _checked(image, target, anchors, classes)
        if len(given) == 0:
            continue
        index = assign(anchors, given)
        if index.shape != (len(anchors),):
            raise ValueError(
                f"assign must give one number per anchor, shape ({len(anchors)},), "
                f"got {tuple(index.shape)}"
            )
        positive = index >= 0
        labels[image, positive] = classes_of[index[positive]]
        boxes.append(given[index[positive]])
    images, where = (labels >= 0).nonzero(as_tuple=True)
    return Matches(labels, images, where, torch.cat(boxes))


def _checked(image: int, target: Target, anchors: Anchors, classes: int) -> tuple[Tensor, Tensor]:
    """Return the boxes and labels of one image on the anchors' device, or raise."""
    where = f"targets[{image}]"
    if not {"boxes", "labels"} <= target.keys():
        raise ValueError(f'{where} needs "boxes" and "labels", got {", ".join(target)}')
    boxes, labels = target["boxes"].to(anchors.boxes), target["labels"].to(anchors.boxes.device)
    require_shape(f'{where}["boxes"]', boxes, "n", 4)
    if labels.shape != boxes.shape[:1] or labels.is_floating_point() or labels.dtype == torch.bool:
        raise ValueError(
            f'{where}["labels"] must be one whole number per box, shape ({len(boxes)},), '
            f"got {labels.dtype} of shape {tuple(labels.shape)}"
        )
    low, high = anchors.boxes[:, :2].amin(0), anchors.boxes[:, 2:].amax(0)
    beyond = ((boxes[:, 2:] <= low) | (boxes[:, :2] >= high)).any(1)
    for wrong, what in (
        (~boxes.isfinite().all(1), "must be finite"),
        (box_area(boxes) <= 0, "must have an area, x1 < x2 and y1 < y2"),
        (beyond, "must lie in the image, which the anchors cover"),
    ):
        if wrong.any():
            raise ValueError(
                f'{where}["boxes"] {what}: {int(wrong.sum())} of {len(boxes)} do not, '
                f"such as {boxes[wrong][0].tolist()}"
            )
    outside = (labels < 0) | (labels >= classes)
    if outside.any():
        raise ValueError(
            f'{where}["labels"] must be from 0 to {classes - 1}, one of the {classes} classes of '
            f"cls_logits: {int(outside.sum())} of {len(labels)} are not, "
            f"such as {int(labels[outside][0])}"
        )
    return boxes, labels.long()
