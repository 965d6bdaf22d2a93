"""Deep feature mixup: more images of a class, made of the features of those that are there."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.tasks.retrieval.settings import UsageError

__all__ = ["draw_mixing", "mixed"]


def draw_mixing(classes: int, per_class: int, stages: int, like: Tensor) -> list[Tensor]:
    """Weights v of every mixing, (classes, images, images): v ~ U(0, 1), each row sums to 1.

    Every mixing doubles the images of a class, so that the next is larger. They are drawn for a
    whole batch at once: a part of it, class by class, is mixed as in the whole.
    """
    found = []
    for stage in range(stages):
        size = per_class * 2**stage
        v = torch.rand(classes, size, size, device=like.device, dtype=torch.float32)
        found.append(v / v.sum(-1, keepdim=True))
    return found


def mixed(features: Tensor, weights: Tensor, u: float) -> Tensor:
    """The features, class by class, each class followed by z̃_i = u z_i + (1−u) Σ_j v_ij z_j.

    ``features`` (n, …) has the classes one after the other, of equal size; the result has 2n.
    """
    classes, size, _ = weights.shape
    if len(features) != classes * size:
        raise UsageError(
            f"mixup: {classes} classes of {size} images make {classes * size}, got {len(features)}"
        )
    by_class = features.reshape(classes, size, -1)
    around = weights.to(features.dtype) @ by_class
    both = torch.cat([by_class, u * by_class + (1 - u) * around], dim=1)
    result = both.reshape(2 * len(features), *features.shape[1:])
    if features.dim() == 4 and features.is_contiguous(memory_format=torch.channels_last):
        result = result.contiguous(memory_format=torch.channels_last)
    return result
