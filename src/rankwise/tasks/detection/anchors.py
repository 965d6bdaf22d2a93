"""Anchors: the boxes that a dense detector scores, level by level of its pyramid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from rankwise.checks import require_positive

__all__ = ["Anchors", "grid_anchors"]


@dataclass(frozen=True)
class Anchors:
    """All anchors of an image, (A, 4), and how many of them each level has, in their order."""

    boxes: Tensor
    levels: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.boxes.dim() != 2 or self.boxes.shape[1] != 4:
            raise ValueError(f"boxes must have shape (anchors, 4), got {tuple(self.boxes.shape)}")
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
        """The same anchors elsewhere."""
        return Anchors(self.boxes.to(device), self.levels)


def grid_anchors(
    shapes: Sequence[tuple[int, int]], strides: Sequence[int], scale: float = 8.0
) -> Anchors:
    """One square anchor for every place of every level, row by row.

    ``shapes`` are (height, width) of the levels in places, ``strides`` the pixels between two
    places. An anchor is ``scale`` strides wide and sits in the middle of its place, at
    (x + ½)·stride.
    """
    if len(shapes) != len(strides):
        raise ValueError(
            f"strides must be one per level, got {len(strides)} for {len(shapes)} levels"
        )
    require_positive("scale", scale)
    levels = []
    for (height, width), stride in zip(shapes, strides, strict=True):
        require_positive("strides", stride)
        y, x = torch.meshgrid(
            (torch.arange(height) + 0.5) * stride,
            (torch.arange(width) + 0.5) * stride,
            indexing="ij",
        )
        half = scale * stride / 2
        levels.append(torch.stack([x - half, y - half, x + half, y + half], dim=-1).reshape(-1, 4))
    boxes = torch.cat(levels) if levels else torch.zeros(0, 4)
    return Anchors(boxes, tuple(map(len, levels)))
