"""Deep feature mixup: more images of a class, made of the features of those in the batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor, nn

from rankwise.errors import UsageError


def draw_mixing(classes: int, per_class: int, stages: int, like: Tensor) -> list[Tensor]:
    """Draw the weights v of every mixing, (classes, images, images): v ~ U(0, 1), rows sum to 1.

    Every mixing doubles the images of a class, so that the next is larger. They are drawn for a
    whole batch: chunks of it, class by class, are mixed as the whole is.
    """
    weights = []
    for stage in range(stages):
        size = per_class * 2**stage
        v = torch.rand(classes, size, size, device=like.device, dtype=torch.float32)
        weights.append(v / v.sum(-1, keepdim=True))
    return weights


def mix_features(features: Tensor, weights: Tensor, u: float) -> Tensor:
    """Append to each class its mixed features z̃_i = u z_i + (1−u) Σ_j v_ij z_j.

    ``features`` (n, …) has the classes one after the other, of equal size; the result has 2n rows.
    """
    classes, size, _ = weights.shape
    if len(features) != classes * size:
        raise UsageError(
            f"mixup: {classes} classes of {size} images make {classes * size}, got {len(features)}"
        )
    by_class = features.reshape(classes, size, -1)
    neighbors = weights.to(features.dtype) @ by_class
    both = torch.cat([by_class, u * by_class + (1 - u) * neighbors], dim=1)
    result = both.reshape(2 * len(features), *features.shape[1:])
    if features.dim() == 4 and features.is_contiguous(memory_format=torch.channels_last):
        result = result.contiguous(memory_format=torch.channels_last)
    return result


@contextmanager
def mixed_stages(stages: Sequence[nn.Module], mixing: Sequence[Tensor], u: float) -> Iterator[None]:
    """Mix the features before each of the last stages of a backbone, within the context."""
    if len(mixing) > len(stages):
        raise UsageError(
            f"mixup.stages must be at most the {len(stages)} of the backbone, got {len(mixing)}"
        )
    with ExitStack() as stack:
        for stage, weights in zip(stages[len(stages) - len(mixing) :], mixing, strict=True):
            hook = _Mix(weights, u)
            stack.callback(stage.register_forward_pre_hook(hook).remove)
        yield


class _Mix:
    """A forward pre-hook that mixes the first argument of a module."""

    def __init__(self, weights: Tensor, u: float) -> None:
        self.weights, self.u = weights, u

    def __call__(self, stage: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (mix_features(inputs[0], self.weights, self.u), *inputs[1:])
