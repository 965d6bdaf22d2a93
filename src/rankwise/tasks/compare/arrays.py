"""Arrays in a file, there whole or not at all, and never executed."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwise.report import write_whole

__all__ = ["read_arrays", "write_arrays"]


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> Path:
    """Write arrays by name as npz."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    return write_whole(path, buffer.getvalue())


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file by name."""
    # Bytes first: numpy leaves a broken file open.
    with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as found:
        return {name: found[name] for name in found.files}
