"""Rows of svmlight as matrices: those of scikit-learn's reader, and blocks joined into one."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from rankwise.data.errors import DataError
from rankwise.errors import short_repr
from rankwise.extras import require
from rankwise.limits import FREE_FEATURES, MAX_FEATURES_PER_VALUE

DENSE = 0.25
"""Share of entries from which a plain array is smaller and faster."""

Matrix: TypeAlias = NDArray[np.float32] | sparse.csr_array


class Sparse(NamedTuple):
    """Rows of svmlight: features by number, labels, and query ids, none where no line has one."""

    features: sparse.csr_array
    target: NDArray[np.float64]
    queries: NDArray[np.int64]


class Block(NamedTuple):
    """Some rows of a file; ``entries`` is the number of values that are written in it."""

    features: Matrix
    target: NDArray[np.float64]
    queries: NDArray[np.int64]
    entries: int


class _Lines:
    """The lines of a file for scikit-learn, which takes ``1_0`` for a number as Python does."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.read = file, file.read

    def __iter__(self) -> Iterator[bytes]:
        for number, line in enumerate(self.file, start=1):
            if b"_" in line and b"_" in line.partition(b"#")[0]:
                raise ValueError(f"line {number}: a number has an underscore: {short_repr(line)}")
            yield line


def load_rows(file: BinaryIO, user: str, dtype: DTypeLike = np.float64) -> Sparse:
    """Read the rows of an open file; the package ``user`` needs scikit-learn for it."""
    require(user, "sklearn")
    from sklearn.datasets import load_svmlight_file  # noqa: PLC0415  (a second to import)

    lines = _Lines(file)
    features, *rest = load_svmlight_file(lines, query_id=True, zero_based=True, dtype=dtype)
    return Sparse(sparse.csr_array(features), *map(np.asarray, rest))


def compact(features: sparse.csr_array) -> sparse.csr_array | NDArray[Any]:
    """Return a plain array where it is smaller and faster: where few entries are zero."""
    dense = features.nnz >= DENSE * features.shape[0] * features.shape[1]
    return features.toarray() if dense else features


def widened(path: Path, features: sparse.csr_array, width: int) -> sparse.csr_array:
    """Return features with the columns of a model, which are 0 where the file has none."""
    if features.shape[1] > width:
        last = features.shape[1] - 1
        raise DataError(f"{path}: has feature {last}, the last of the model is {width - 1}")
    entries = (features.data, features.indices, features.indptr)  # shared, not copied
    return sparse.csr_array(entries, (features.shape[0], width))


def require_width(path: Path, features: Matrix | NDArray[Any]) -> None:
    """Raise where a model of all columns would be far larger than the data it learns from.

    A single line with feature 1000000 makes a model of a million columns.
    """
    width = int(features.shape[1])
    values = features.size if isinstance(features, np.ndarray) else features.nnz
    most = max(FREE_FEATURES, MAX_FEATURES_PER_VALUE * values)
    if width > most:
        raise DataError(
            f"{path}: has feature {width - 1} and {values:,} values in all; a model learns from at "
            f"most {most:,} features from that: number the features from 1 without gaps"
        )


def even_block(
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
    target: NDArray[np.float64],
    queries: NDArray[np.int64],
) -> Block:
    """Return rows with the same columns each, as a plain array where that is smaller."""
    rows, width = len(values), int(columns[-1]) + 1 if len(columns) else 1
    if len(columns) < DENSE * width:
        ends = np.arange(rows + 1) * len(columns)
        entries = (values.ravel(), np.tile(columns, rows), ends)
        return Block(sparse.csr_array(entries, (rows, width)), target, queries, values.size)
    features = _zeros(rows, width)
    if len(columns) and len(columns) == width - columns[0]:
        features[:, columns[0] :] = values  # several times as fast
    else:
        features[:, columns] = values
    return Block(features, target, queries, values.size)


def _zeros(rows: int, width: int) -> NDArray[np.float32]:
    """Return zeros in pages of their own, which go back to the system when a block is joined."""
    return np.frombuffer(mmap.mmap(-1, 4 * rows * width), dtype=np.float32).reshape(rows, width)


def joined(blocks: list[Block]) -> Matrix:
    """Return the features of all blocks; the list is emptied, so that memory holds them once."""
    rows = sum(len(block.target) for block in blocks)
    width = max(int(block.features.shape[1]) for block in blocks)
    if sum(block.entries for block in blocks) >= DENSE * rows * width:
        whole = np.empty((rows, width), dtype=np.float32)
        for start, features in _placed(blocks):
            part = whole[start : start + features.shape[0]]
            part[:, features.shape[1] :] = 0
            part[:, : features.shape[1]] = (
                features if isinstance(features, np.ndarray) else features.toarray()
            )
        return whole
    return _joined_sparse(blocks, rows, width)


def _joined_sparse(blocks: list[Block], rows: int, width: int) -> sparse.csr_array:
    entries = sum(block.entries for block in blocks)
    data, ends = np.empty(entries, dtype=np.float32), np.zeros(rows + 1, dtype=np.int64)
    columns, done = np.empty(entries, dtype=np.int32), 0
    for start, features in _placed(blocks):
        own = sparse.csr_array(features)
        data[done : done + own.nnz], columns[done : done + own.nnz] = own.data, own.indices
        ends[start + 1 : start + own.shape[0] + 1] = done + own.indptr[1:]
        done += own.nnz
    if entries < 2**31:
        ends = ends.astype(np.int32)
    # A dense block among sparse ones has lost the zeros that the file writes out.
    return sparse.csr_array((data[:done], columns[:done], ends), (rows, width))


def _placed(blocks: list[Block]) -> Iterator[tuple[int, Matrix]]:
    """Yield the first row and the features of every block, which is then forgotten."""
    start = 0
    blocks.reverse()
    while blocks:
        features = blocks.pop().features
        yield start, features
        start += features.shape[0]
