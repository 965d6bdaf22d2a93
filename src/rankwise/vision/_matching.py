"""Anchors of a batch of images matched with their objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rankwise.vision.anchors import Anchors
from rankwise.vision.boxes import box_area

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
    missing = [key for key in ("boxes", "labels") if key not in target]
    if missing:
        raise ValueError(f'targets[{image}] needs "boxes" and "labels", got {", ".join(target)}')
    where = f"targets[{image}]"
    boxes = target["boxes"].to(anchors.boxes)
    labels = target["labels"].to(anchors.boxes.device)
    if boxes.dim() != 2 or boxes.shape[1] != 4:
        raise ValueError(f'{where}["boxes"] must have shape (n, 4), got {tuple(boxes.shape)}')
    if labels.shape != boxes.shape[:1] or labels.is_floating_point() or labels.dtype == torch.bool:
        raise ValueError(
            f'{where}["labels"] must be one whole number per box, shape ({len(boxes)},), '
            f"got {labels.dtype} of shape {tuple(labels.shape)}"
        )
    low, high = anchors.boxes[:, :2].amin(0), anchors.boxes[:, 2:].amax(0)
    for wrong, what in (
        (~boxes.isfinite().all(1), "must be finite"),
        (box_area(boxes) <= 0, "must have an area, x1 < x2 and y1 < y2"),
        (
            ((boxes[:, 2:] <= low) | (boxes[:, :2] >= high)).any(1),
            "must lie in the image, which the anchors cover",
        ),
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
