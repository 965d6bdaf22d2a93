"""Read LETOR and svmlight with queries: MSLR-WEB, Yahoo, MQ2007/2008, LightGBM's examples."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rankwise.data._text import opened
from rankwise.data.errors import DataError, reads
from rankwise.data.letor._blocks import Block, Matrix, joined, load_rows, require_width, widened
from rankwise.data.letor._cache import Parsed, cached
from rankwise.data.letor._lines import (
    LAST,
    complain,
    data_lines,
    document_of,
    groups_of,
    labeled,
    line_of,
)
from rankwise.data.letor._parse import parse
from rankwise.errors import reason_of


@dataclass(frozen=True, eq=False)
class Letor:
    """Documents of a file with features and relevances, the documents of a query together.

    Args:
        path: The file.
        features: Features, shape (documents, columns); column j is feature j of the file.
        target: Relevances ≥ 0.
        groups: Number of the query of every document, 0, 1, … in the order of the file.
        queries: Id of each query; its number where only sizes are known.
        documents: Id of each document, where comments have it.

    Example:
        >>> import numpy as np
        >>> from pathlib import Path
        >>> from rankwise.data.letor import Letor
        >>> features, target = np.ones((3, 2), dtype=np.float32), np.array([2.0, 0.0, 1.0])
        >>> lists = Letor(Path("lists"), features, target, np.array([0, 0, 1]), ("q1", "q2"))
        >>> lists.document(1)  # the second of query q1
        'q1-2'
    """

    path: Path
    features: Matrix
    target: NDArray[np.float64]
    groups: NDArray[np.int64]
    queries: tuple[str, ...]
    documents: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.target)

    @property
    def width(self) -> int:
        """One more than the number of the last feature."""
        return int(self.features.shape[1])

    def columns(self, count: int) -> Matrix:
        """Return the features for a model of ``count`` columns; missing ones are 0."""
        if self.width == count:
            return self.features
        wide = widened(self.path, sparse.csr_array(self.features), count)
        return wide if sparse.issparse(self.features) else wide.toarray()

    def require_width(self) -> None:
        """Raise where a model of all features would be far larger than the data."""
        require_width(self.path, self.features)

    def place(self, row: int) -> str:
        """Return the file and line of a document, for a message."""
        if not self.path.is_file():  # lists that somebody made
            return f"{self.path}: row {row + 1}"
        return f"{self.path}: line {line_of(self.path, row)}"

    def document(self, row: int) -> str:
        """Return the id of a document; its place in its list where the file has none."""
        if self.documents is not None and self.documents[row]:
            return self.documents[row]
        first = int(np.searchsorted(self.groups, self.groups[row]))
        return f"{self.queries[self.groups[row]]}-{row - first + 1}"


_CHUNK = 1 << 22  # bytes of text at a time: memory of this size is used again, not mapped anew


@reads("LETOR")
def read_letor(
    path: str | Path,
    *,
    sizes: str | Path | None = None,
    judged: bool = True,
    cache: str | Path | None = None,
) -> Letor:
    """Read ``relevance qid:query feature:value … # comment`` lines.

    The text is read in chunks and kept as 32-bit numbers. The lines of a query must be together.
    Comments such as ``#docid = GX008-86`` name the documents.

    Args:
        path: The file, plain or gzip.
        sizes: For a file without ``qid:``, the file with the size of each query, one number per
            line; by default ``.query`` next to the file, as in LightGBM.
        judged: Whether the lines have relevances. If False, a relevance may be missing and is not
            used: all relevances are 0.
        cache: A folder for the parsed arrays. The next call with the same folder takes them from
            there while size, time of change and a sample of the content of the file are the same;
            the features then stay in the cache file (memory-mapped). None: nothing is kept.

    Returns:
        The documents with their features, relevances and queries.

    Raises:
        DataError: If a line cannot be read; the message names file and line.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from rankwise.data.letor import read_letor
        >>> file = Path(tempfile.mkdtemp()) / "train.txt"
        >>> _ = file.write_text("2 qid:7 1:0.5 2:1\\n0 qid:7 1:0.1\\n1 qid:8 2:0.3\\n")
        >>> lists = read_letor(file)
        >>> lists.target.tolist(), lists.groups.tolist(), lists.queries
        ([2.0, 0.0, 1.0], [0, 0, 1], ('7', '8'))
    """
    path = Path(path)
    if not path.is_file():
        what = "is a folder, not a file" if path.is_dir() else "there is no such file"
        raise DataError(f"{path}: {what}")
    if cache is None:
        found = _read(path, judged=judged)
    else:
        options = "judged" if judged else "not judged"
        found = cached(path, Path(cache), options, partial(_read, path, judged=judged))
    ids, groups = _queries(path, found.queries, len(found.target), sizes, judged=judged)
    return Letor(path, found.features, found.target, groups, ids, found.documents)


def _read(path: Path, *, judged: bool) -> Parsed:
    """Read all lines; raise where one is malformed or has a relevance below 0."""
    blocks: list[Block] = []
    names: list[str] = []
    size, done = path.stat().st_size, 0
    with opened(path) as file:
        while text := file.read(_CHUNK) + file.readline():
            chunk = text if judged else labeled(text)
            done += len(text)  # of a gzip file more than its size
            block = parse(chunk, max(size, done)) or _parsed(path, chunk, judged=judged)
            if len(block.target):
                blocks.append(block)
                own = data_lines(chunk.splitlines()) if b"#" in chunk else ()
                names += [document_of(line) for _, line in own] or [""] * len(block.target)
    if not blocks:
        raise DataError(f"{path}: is empty")
    if len({len(block.queries) > 0 for block in blocks}) > 1:
        complain(path, judged=judged)
    target = np.concatenate([block.target for block in blocks])
    target = target if judged else np.zeros(len(target))
    wrong = np.flatnonzero(target < 0)
    if len(wrong):
        raise DataError(
            f"{path}: line {line_of(path, int(wrong[0]))}: the relevance must not be below "
            f"0, got {target[wrong[0]]:g}; {len(wrong)} lines are such"
        )
    queries = np.concatenate([block.queries for block in blocks])
    return Parsed(joined(blocks), target, queries, tuple(names) if any(names) else None)


def _parsed(path: Path, chunk: bytes, *, judged: bool) -> Block:
    """Read lines of any form with scikit-learn; raise where one is malformed."""
    try:
        rows = load_rows(io.BytesIO(chunk), "rankwise.data.letor", np.float32)
    except (ValueError, OverflowError) as error:
        complain(path, judged=judged)
        raise DataError(f"{path}: cannot be read as svmlight: {reason_of(error)}") from error
    features, target, queries = rows
    finite = np.isfinite(features.data).all() and np.isfinite(target).all()
    fits = features.shape[1] <= LAST + 1
    if not (finite and fits) or len(queries) not in (0, len(target)):
        complain(path, judged=judged)
        raise DataError(
            f"{path}: some lines have qid: and others have not, or a value is not a number"
        )
    return Block(features, target, queries, features.nnz)


def _queries(
    path: Path, ids: NDArray[np.int64], rows: int, sizes: str | Path | None, *, judged: bool
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The id of every query in the order of the file, and the query of every row."""
    listing = path.with_name(path.name + ".query") if sizes is None else Path(sizes)
    if sizes is not None or not len(ids):
        if not listing.is_file():
            raise DataError(
                f"{path}: no line has qid:, and there is no {listing.name} with the sizes of the "
                "queries"
            )
        groups = groups_of(listing, rows)
        return tuple(str(number + 1) for number in range(groups[-1] + 1)), groups
    if len(ids) != rows:
        complain(path, judged=judged)
    first = np.flatnonzero(np.diff(ids, prepend=ids[0] - 1))
    runs = ids[first]
    again = np.delete(first, np.unique(runs, return_index=True)[1])
    if len(again):
        row = int(again[0])
        before = int(np.flatnonzero(ids[:row] == ids[row])[-1])
        raise DataError(
            f"{path}: line {line_of(path, row)}: the query {ids[row]} is back after another "
            f"one; its lines must stand together, the last was line {line_of(path, before)} "
            f"({len(again)} such places)"
        )
    lengths = np.diff(np.append(first, rows))
    return tuple(map(str, runs.tolist())), np.repeat(np.arange(len(runs)), lengths)
