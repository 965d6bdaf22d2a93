"""Files that are there whole or not at all."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_then: ContextVar[Callable[[Path], None] | None] = ContextVar("after_write", default=None)


@contextmanager
def after_write(function: Callable[[Path], None]) -> Iterator[None]:
    """Call a function with the path of every file that is written whole inside, in their order."""
    token = _then.set(function)
    try:
        yield
    finally:
        _then.reset(token)


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
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    if (function := _then.get()) is not None:
        function(path)
    return path


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of the content of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_csv(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    """Write rows as comma-separated values; the columns are the union of their keys, in order."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return write_whole(path, text.getvalue())


def write_json(path: Path, value: object) -> Path:
    """Write a value as indented JSON; NaN and infinity raise."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    return write_whole(path, text + "\n")


def nan_to_none(value: object) -> object:
    """Return a value, or a dict of values at any depth, with None in place of NaN."""
    if isinstance(value, Mapping):
        return {name: nan_to_none(part) for name, part in value.items()}
    return None if isinstance(value, float) and math.isnan(value) else value


def write_npz(path: Path, arrays: Mapping[str, ArrayLike]) -> Path:
    """Write arrays by name as npz, without time stamps: equal arrays make equal files.

    Arrays of Python objects are refused.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
            # A new ZipInfo has the first date that zip knows, not that of today.
            info = zipfile.ZipInfo(f"{name}.npy")
            file.writestr(info, member.getvalue(), zipfile.ZIP_DEFLATED)
    return write_whole(path, buffer.getvalue())


def read_npz(path: Path) -> dict[str, NDArray[Any]]:
    """Read the arrays of an npz file by name; nothing in it is ever executed."""
    with path.open("rb") as file:  # numpy leaves a broken file open
        held = np.load(file, allow_pickle=False)
        if isinstance(held, np.ndarray):
            raise ValueError("it holds one array, without a name")
        arrays = {name: held[name] for name in held.files}
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):  # a member that is no .npy comes as bytes
            raise ValueError(f"{name!r} is not an array")
    return arrays
