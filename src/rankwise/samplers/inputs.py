"""What a caller hands to a sampler: one number per item of the data set, as a checked array."""

from __future__ import annotations

from numbers import Integral

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.checks import require_binary
from rankwise.metrics.inputs import to_tensor

__all__ = ["Ints", "read_ids", "read_target", "require_whole"]

Ints = NDArray[np.int64]


def read_target(target: object) -> NDArray[np.bool_]:
    """One class per item, True for the positives."""
    vector = _read_vector("target", target)
    require_binary("target", vector)
    positive: NDArray[np.bool_] = vector.bool().cpu().numpy()
    return positive


def read_ids(name: str, value: object) -> Ints:
    """One integer id per item."""
    vector = _read_vector(name, value)
    if vector.is_floating_point() or vector.is_complex() or vector.dtype == torch.bool:
        raise ValueError(f"{name} must be integer ids, one per item, got {vector.dtype}")
    ids: Ints = vector.long().cpu().numpy()
    return ids


def require_whole(name: str, value: object) -> None:
    """Seeds, epochs and ranks count from zero."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
        raise ValueError(f"{name} must be a whole number >= 0, got {value!r}")


def _read_vector(name: str, value: object) -> Tensor:
    try:
        vector = to_tensor(value)
    except (TypeError, ValueError) as error:  # strings, or rows of different length
        raise ValueError(f"{name} must be a list of numbers, one per item: {error}") from error
    if vector.ndim != 1 or len(vector) == 0:
        raise ValueError(
            f"{name} must be one-dimensional with one value per item of the data set, "
            f"got shape {tuple(vector.shape)}"
        )
    return vector
