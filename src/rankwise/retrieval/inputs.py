"""Embeddings and labels as they come, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from rankwise.checks import require_finite, require_floating

__all__ = ["embeddings_of", "labels_of"]


def embeddings_of(name: str, given: Any, unit: bool) -> Tensor:
    """(items, dimension) in single precision on the processor, of length one with ``unit``."""
    values = torch.as_tensor(given).detach()
    if values.dim() != 2:
        raise ValueError(f"{name} must have shape (items, dimension), got {tuple(values.shape)}")
    require_floating(name, values)
    values = values.to("cpu", torch.float32)
    require_finite(name, values, "look for an overflow in the model")
    if not unit or values.numel() == 0:
        return values
    # Squares of very large and very small numbers leave single precision; of shares they do not.
    largest = values.abs().amax(dim=1, keepdim=True)
    return normalize(values / torch.where(largest > 0, largest, 1), dim=1)


def labels_of(name: str, given: Any, items: int) -> NDArray[np.int64]:
    """One whole number for each item."""
    values = torch.as_tensor(given).detach().cpu()
    if values.shape != (items,):
        raise ValueError(
            f"{name} must have one label per item, shape ({items},), got {tuple(values.shape)}"
        )
    if values.is_floating_point() or values.is_complex():
        raise ValueError(f"{name} must hold whole numbers, got {values.dtype}")
    return values.long().numpy()
