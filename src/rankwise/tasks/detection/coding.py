"""Boxes as differences from anchors, the numbers that a detector learns to give."""

from __future__ import annotations

import math

import torch
from torch import Tensor

__all__ = ["decode", "encode"]

_LARGEST = math.log(1000 / 16)  # of dw and dh: no object is 62 times as wide as its anchor
_SMALLEST = 1e-6  # side of a box in pixels below which its logarithm says nothing


def encode(anchors: Tensor, boxes: Tensor) -> Tensor:
    """(n, 4): dx, dy in sides of the anchor, dw, dh as logarithms   (Girshick et al. 2014)."""
    anchors, boxes = _precise(anchors), _precise(boxes)
    center, side = _center_and_side(anchors)
    box_center, box_side = _center_and_side(boxes)
    size = (box_side.clamp_min(_SMALLEST) / side.clamp_min(_SMALLEST)).log()
    return torch.cat([(box_center - center) / side.clamp_min(_SMALLEST), size], dim=-1)


def decode(anchors: Tensor, deltas: Tensor) -> Tensor:
    """The boxes that these differences mean, (n, 4): what :func:`encode` undoes.

    dw and dh are taken between −4.1 and 4.1 (62 times the anchor), so that a wild guess of an
    untrained network is still a box.
    """
    anchors, deltas = _precise(anchors), _precise(deltas)
    center, side = _center_and_side(anchors)
    center = center + deltas[..., :2] * side
    half = side * deltas[..., 2:].clamp(-_LARGEST, _LARGEST).exp() / 2
    return torch.cat([center - half, center + half], dim=-1)


def _center_and_side(boxes: Tensor) -> tuple[Tensor, Tensor]:
    low, high = boxes[..., :2], boxes[..., 2:]
    return (low + high) / 2, high - low


def _precise(boxes: Tensor) -> Tensor:
    return boxes.to(torch.promote_types(boxes.dtype, torch.float32))
