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
    require_finite(name, values, "look for an overflow in the model")
    values = values.to("cpu", torch.float32)
    return normalize(values, dim=1) if unit else values


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
