"""Read LETOR and svmlight with queries: MSLR-WEB, Yahoo, MQ2007/2008, LightGBM's examples."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rankwise.data._text import opened
from rankwise.data.errors import DataError
from rankwise.data.letor import lines

Matrix: TypeAlias = NDArray[np.float32] | sparse.csr_array


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
        wide = lines.widened(self.path, sparse.csr_array(self.features), count)
        return wide if sparse.issparse(self.features) else wide.toarray()

    def place(self, row: int) -> str:
        """Return the file and line of a document, for a message."""
        if not self.path.is_file():  # lists that somebody made
            return f"{self.path}: row {row + 1}"
        return f"{self.path}: line {lines.line_of(self.path, row)}"

    def document(self, row: int) -> str:
        """Return the id of a document; its place in its list where the file has none."""
        if self.documents is not None and self.documents[row]:
            return self.documents[row]
        first = int(np.searchsorted(self.groups, self.groups[row]))
        return f"{self.queries[self.groups[row]]}-{row - first + 1}"


_CHUNK = 1 << 25  # bytes of text at a time


def read_letor(path: str | Path, *, sizes: str | Path | None = None, judged: bool = True) -> Letor:
    """Read ``relevance qid:query feature:value … # comment`` lines.

    The text is read in chunks and kept as 32-bit numbers. The lines of a query must be together.
    Comments such as ``#docid = GX008-86`` name the documents.

    Args:
        path: The file, plain or gzip.
        sizes: For a file without ``qid:``, the file with the size of each query, one number per
            line; by default ``.query`` next to the file, as in LightGBM.
        judged: Whether the lines have relevances. If False, a relevance may be missing and is not
            used: all relevances are 0.

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
    blocks, names = [], []
    with opened(path) as file:
        while text := b"".join(file.readlines(_CHUNK)):
            chunk = text if judged else lines.labeled(text)
            rows = _parsed(path, chunk, judged=judged)
            if len(rows[1]):
                blocks.append(rows)
                own = lines.data_lines(chunk.splitlines()) if b"#" in chunk else ()
                names += [lines.document_of(line) for _, line in own] or [""] * len(rows[1])
    if not blocks:
        raise DataError(f"{path}: is empty")
    features, targets, found = zip(*blocks, strict=True)
    target = np.concatenate(targets) if judged else np.zeros(sum(map(len, targets)))
    wrong = np.flatnonzero(target < 0)
    if len(wrong):
        raise DataError(
            f"{path}: line {lines.line_of(path, int(wrong[0]))}: the relevance must not be below "
            f"0, got {target[wrong[0]]:g}; {len(wrong)} lines are such"
        )
    ids, groups = _queries(path, np.concatenate(found), len(target), sizes, judged=judged)
    documents = tuple(names) if any(names) else None
    width = max(block.shape[1] for block in features)
    whole = sparse.vstack([lines.widened(path, block, width) for block in features], format="csr")
    return Letor(path, lines.compact(whole), target, groups, ids, documents)


def _parsed(path: Path, chunk: bytes, *, judged: bool) -> lines.Sparse:
    try:
        rows = lines.load_rows(io.BytesIO(chunk), "rankwise.data.letor", np.float32)
    except (ValueError, OverflowError) as error:
        lines.complain(path, judged=judged)
        raise DataError(f"{path}: cannot be read as svmlight: {error}") from error
    features, target, queries = rows
    finite = np.isfinite(features.data).all() and np.isfinite(target).all()
    fits = features.shape[1] <= lines.LAST + 1
    if not (finite and fits) or len(queries) not in (0, len(target)):
        lines.complain(path, judged=judged)
        raise DataError(
            f"{path}: some lines have qid: and others have not, or a value is no number"
        )
    return rows


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
        groups = lines.groups_of(listing, rows)
        return tuple(str(number + 1) for number in range(groups[-1] + 1)), groups
    if len(ids) != rows:
        lines.complain(path, judged=judged)
    first = np.flatnonzero(np.diff(ids, prepend=ids[0] - 1))
    runs = ids[first]
    again = np.delete(first, np.unique(runs, return_index=True)[1])
    if len(again):
        row = int(again[0])
        before = int(np.flatnonzero(ids[:row] == ids[row])[-1])
        raise DataError(
            f"{path}: line {lines.line_of(path, row)}: the query {ids[row]} is back after another "
            f"one; its lines must stand together, the last was line {lines.line_of(path, before)} "
            f"({len(again)} such places)"
        )
    lengths = np.diff(np.append(first, rows))
    return tuple(map(str, runs.tolist())), np.repeat(np.arange(len(runs)), lengths)
