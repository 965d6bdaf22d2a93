"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write under a temporary name in the same folder, then rename: no reader sees half a file.

    File and folder are flushed to the disk, so that the same is true after a loss of power.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)  # mkstemp keeps its files to their owner
        Path(name).replace(path)
        _flush_folder(path.parent)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
