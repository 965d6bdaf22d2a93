"""Parsed LETOR files as arrays in a folder of the user, read again in milliseconds.

A cache file is a sequence of ``.npy`` arrays, the first of which is a header of JSON text. It is
there whole or not at all, ends with the SHA-256 of what is before it, and nothing in it is ever
executed. It belongs to one file of text, by
its path, and counts only while size, time of change and a sample of the content are the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from itertools import pairwise
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy import sparse

from rankwise.data.letor._blocks import Matrix
from rankwise.files import open_whole

_VERSION = 2
_DIGEST = 32  # bytes of a SHA-256
_ALIGNED = 64  # bytes: where arrays begin, so that they can be used in the file itself
_SAMPLES, _SAMPLE = 64, 1 << 14  # places of a file that are hashed, and bytes of each


class Parsed(NamedTuple):
    """What the lines of a file hold, before it is checked against other files."""

    features: Matrix
    target: NDArray[np.float64]
    queries: NDArray[np.int64]  # the id of every row, or none
    documents: tuple[str, ...] | None


def cached(path: Path, folder: Path, options: str, read: Callable[[], Parsed]) -> Parsed:
    """Return what the cache holds of a file, or what ``read`` returns, which it holds from now on.

    ``options`` says how the file is read. A cache that is broken is written anew.
    """
    whole = f"{path.resolve()} {options}"
    name = f"{path.name}-{hashlib.sha256(whole.encode()).hexdigest()[:16]}.cache"
    wanted = {"version": _VERSION, "options": options, **_fingerprint(path)}
    found = _load(folder / name, wanted)
    if found is None:
        found = read()
        if wanted == {**wanted, **_fingerprint(path)}:  # else it was changed while it was read
            _save(folder / name, wanted, found)
    return found


def _fingerprint(path: Path) -> dict[str, object]:
    """Return size, time of the last change and the hash of a sample of a file."""
    about, digest = path.stat(), hashlib.sha256()
    with path.open("rb") as file:
        for place in np.linspace(0, max(0, about.st_size - _SAMPLE), _SAMPLES).astype(int):
            file.seek(int(place))
            digest.update(file.read(_SAMPLE))
    return {"size": about.st_size, "changed": about.st_mtime_ns, "sample": digest.hexdigest()}


def _save(file: Path, wanted: dict[str, object], parsed: Parsed) -> None:
    features, documents = parsed.features, parsed.documents
    arrays: list[NDArray[Any]] = [parsed.target, parsed.queries]
    if isinstance(features, np.ndarray):
        arrays.append(features)
    else:
        arrays += [features.data, features.indices, features.indptr]
    if documents is not None:
        names = [name.encode() for name in documents]
        arrays.append(np.cumsum([0, *map(len, names)]))
        arrays.append(np.frombuffer(b"".join(names), dtype=np.uint8))
    header = {
        **wanted,
        "shape": list(features.shape),
        "dense": isinstance(features, np.ndarray),
        "named": documents is not None,
    }
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with open_whole(file) as whole:
        out = _Hashed(whole)
        for array in (text, *arrays):
            npy.write_array(out, np.ascontiguousarray(array), allow_pickle=False)
            out.write(b"\0" * (-whole.tell() % _ALIGNED))
        whole.write(out.seen.digest())


class _Hashed:
    """A file whose content is hashed while it is written."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.seen = file, hashlib.sha256()

    def write(self, content: bytes) -> int:
        self.seen.update(content)
        return self.file.write(content)


def _is_whole(file: IO[bytes]) -> bool:
    """Whether a file ends with the SHA-256 of what is before it."""
    with (
        mmap(file.fileno(), 0, access=ACCESS_READ) as content,
        memoryview(content) as view,
        view[:-_DIGEST] as before,
    ):
        return hashlib.sha256(before).digest() == content[-_DIGEST:]


def _load(file: Path, wanted: dict[str, object]) -> Parsed | None:
    """Return what a cache file holds; None where it is of other text, broken or not there."""
    try:
        with file.open("rb") as source:
            header = dict(json.loads(_mapped(source).tobytes()))
            if any(header.get(name) != value for name, value in wanted.items()):
                return None
            if not _is_whole(source):
                return None
            target, queries = np.array(_mapped(source)), np.array(_mapped(source))
            features: Matrix
            if header["dense"]:
                features = _mapped(source)
            else:
                entries = tuple(_mapped(source) for _ in range(3))
                features = sparse.csr_array(entries, tuple(header["shape"]))
            documents = None
            if header["named"]:
                ends, text = _mapped(source).tolist(), _mapped(source).tobytes()
                documents = tuple(text[a:b].decode() for a, b in pairwise(ends))
        rows = len(target)
        fits = features.shape == (rows, header["shape"][1]) and len(queries) in (0, rows)
        fits = fits and (documents is None or len(documents) == rows)
        if not isinstance(features, np.ndarray):  # SciPy uses its arrays as they are
            features.check_format(full_check=True)
    except Exception:  # whatever is wrong with it, it is written anew
        return None
    return Parsed(features, target, queries, documents) if fits else None


def _mapped(file: IO[bytes]) -> NDArray[Any]:
    """Return the next array of a file, in the file itself; writing to it changes a copy."""
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, by_columns, dtype = read(file)
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    start, size = file.tell(), dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    if by_columns:
        raise ValueError("an array is by columns, which none was written")
    found = np.memmap(file, dtype, "c", start, shape) if size else np.empty(shape, dtype)
    file.seek(start + size + -(start + size) % _ALIGNED)
    return found
