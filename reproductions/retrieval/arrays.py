"""Arrays in one file, there whole or not at all."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from rankwise.report import write_whole

__all__ = ["write_npz"]


def write_npz(path: Path, arrays: Mapping[str, np.ndarray]) -> Path:
    """An npz without pickles; the same arrays make the same bytes."""
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise ValueError(f"{name}: object arrays cannot be saved without pickles")
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return write_whole(path, buffer.getvalue())
