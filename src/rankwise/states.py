"""Tensors, numbers and text as the bytes of a file: equal values make equal bytes."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping

import torch

from rankwise.seals import sealed_zip


def state_bytes(state: Mapping[str, object]) -> bytes:
    """Return a state as ``torch.save`` writes it, sealed.

    Pickle writes a string or a tensor that it has seen before as a reference to it. A state that
    was loaded shares other objects than one that was computed, so that equal values would make
    other bytes; here equal strings are one object, and no tensor shares its memory.
    """
    buffer = io.BytesIO()
    torch.save(_alone(state), buffer)
    return sealed_zip(buffer.getvalue())


def _alone(value: object) -> object:
    if isinstance(value, Mapping):
        return {_alone(name): _alone(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        parts = [_alone(part) for part in value]
        return parts if isinstance(value, list) else tuple(parts)
    if isinstance(value, str):
        return sys.intern(value)
    if isinstance(value, torch.Tensor):
        sparse = value.is_sparse
        return value.detach().clone() if sparse else value.detach().contiguous().clone()
    return value
