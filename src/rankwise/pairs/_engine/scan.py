"""A cumulative sum that forgets: y_i = x_i + decay_i · y_{i−1}, in about 2√n vector steps.

``cumsum`` of rescaled terms would overflow or lose the tail as soon as the scores spread over more
than a few hundred decay lengths; every product here is of numbers in [0, 1], so nothing can.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

__all__ = ["decayed_cumsum"]


def decayed_cumsum(x: Tensor, decay: Tensor) -> Tensor:
    """y along the last dimension, with y_0 = x_0; ``decay`` has the shape of ``x``.

    The line is cut into columns that are scanned side by side, then each column receives what its
    predecessor carries over.
    """
    n = x.shape[-1]
    if n <= 1:
        return x.clone()
    steps = math.isqrt(n - 1) + 1
    columns = -(-n // steps)
    y = _side_by_side(x, steps, columns)
    kept = _side_by_side(decay, steps, columns)
    for step in range(1, steps):
        y[step].addcmul_(kept[step], y[step - 1])
        kept[step].mul_(kept[step - 1])
    carry = y[-1].clone()
    for column in range(1, columns):
        carry[..., column].addcmul_(kept[-1, ..., column], carry[..., column - 1])
    y[..., 1:].addcmul_(kept[..., 1:], carry[..., :-1])
    return y.movedim(0, -1).reshape(*x.shape[:-1], -1)[..., :n]


def _side_by_side(x: Tensor, steps: int, columns: int) -> Tensor:
    """(…, n) → (steps, …, columns), so that one step of all columns is contiguous."""
    padded = torch.nn.functional.pad(x, (0, steps * columns - x.shape[-1]))
    return padded.reshape(*x.shape[:-1], columns, steps).movedim(-1, 0).contiguous()
