"""Read LETOR and svmlight with queries: MSLR-WEB, Yahoo, MQ2007/2008, LightGBM's examples."""

from __future__ import annotations

import gzip
import io
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from rankwise.data._text import WIDE, opened, read_fields
from rankwise.data.errors import DataError
from rankwise.extras import require

LAST = 1_000_000
"""The greatest number of a feature: columns are held, or learned from, as wide as the last one."""

_DENSE = 0.25  # share of entries from which a plain array is smaller and faster
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_PAIR = re.compile(rf"(\d+):({_NUMBER})")
_DOCUMENT = re.compile(rb"#(?:.*?docid\s*=)?\s*(\S+)")
_NO_LABEL = re.compile(rb"^[ \t]*(?=[^\s#:]+:)", re.MULTILINE)  # the first word is name:value
_UNKNOWN_LABEL = re.compile(rb"^[ \t]*(?:\?|nan|na|none)(?=[ \t])", re.MULTILINE | re.IGNORECASE)
_LARGEST = float(np.finfo(np.float32).max)  # features are kept as 32-bit numbers
_LAYOUT = "relevance qid:query feature:value …"


class Sparse(NamedTuple):
    """Rows of svmlight: features by number, labels, and query ids, none where no line has one."""

    features: sparse.csr_array
    target: NDArray[np.float64]
    queries: NDArray[np.int64]


def load_rows(file: BinaryIO | gzip.GzipFile, user: str, dtype: DTypeLike = np.float64) -> Sparse:
    """Read the rows of an open file; the package ``user`` needs scikit-learn for it."""
    require(user, "sklearn")
    from sklearn.datasets import load_svmlight_file  # noqa: PLC0415  (a second to import)

    features, *rest = load_svmlight_file(file, query_id=True, zero_based=True, dtype=dtype)
    return Sparse(sparse.csr_array(features), *map(np.asarray, rest))


def compact(features: sparse.csr_array) -> sparse.csr_array | NDArray[Any]:
    """Return a plain array where it is smaller and faster: where few entries are zero."""
    dense = features.nnz >= _DENSE * features.shape[0] * features.shape[1]
    return features.toarray() if dense else features


def widened(path: Path, features: sparse.csr_array, width: int) -> sparse.csr_array:
    """Return features with the columns of a model, which are 0 where the file has none."""
    if features.shape[1] > width:
        last = features.shape[1] - 1
        raise DataError(f"{path}: has feature {last}, the last of the model is {width - 1}")
    entries = (features.data, features.indices, features.indptr)  # shared, not copied
    return sparse.csr_array(entries, (features.shape[0], width))


def complain(path: Path, *, judged: bool = True) -> None:
    """Raise for the first line that is malformed, or has a query where the first has none.

    Unless ``judged``, lines may lack the relevance.
    """
    first: bool | None = None
    with opened(path) as file:
        for number, given in data_lines(file):
            why, queried = _wrong((given if judged else labeled(given)).decode(errors="replace"))
            first = queried if first is None else first
            if not why and queried != first:
                why = "no qid:, other lines have one" if first else "qid:, the first line has none"
            if why:
                line = given.decode(errors="replace")
                shown = line if len(line) <= WIDE else line[:WIDE] + "…"
                raise DataError(f"{path}: line {number}: {why}: {shown!r}; a line is {_LAYOUT}")


def labeled(text: bytes) -> bytes:
    """Lines with a relevance of 0 where there is none, or a word for a missing one."""
    return _NO_LABEL.sub(b"0 ", _UNKNOWN_LABEL.sub(b"0", text))


def line_of(path: Path, row: int) -> int:
    """The number of the line on which a row stands; comments and empty lines are no rows."""
    with opened(path) as file:
        for number, _ in islice(data_lines(file), row, None):
            return number
    raise ValueError(f"{path} has no row {row}")


def document_of(line: bytes) -> str:
    """The id of a document in the comment of its line: ``docid = …``, or its first word."""
    found = _DOCUMENT.search(line)
    return found[1].decode(errors="replace") if found else ""


def groups_of(path: Path, rows: int) -> NDArray[np.int64]:
    """Return the list of every row, by the sizes of the lists in a file, one per line."""
    sizes: list[int] = []
    for place, (size,) in read_fields(path, "size", errors="replace"):
        if not size.isdecimal() or int(size) == 0:
            raise DataError(f"{place}: a size must be a whole number >= 1, got {size!r}")
        sizes.append(int(size))
    if sum(sizes) != rows:
        raise DataError(f"{path}: the sizes add up to {sum(sizes)}, the lists have {rows} rows")
    return np.repeat(np.arange(len(sizes)), sizes)


def data_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are no comments and not empty, with their numbers."""
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text and not text.startswith(b"#"):
            yield number, text


def _wrong(line: str) -> tuple[str, bool]:
    """What is wrong, if anything, and whether the line has a query."""
    label, *fields = line.partition("#")[0].split()
    queried = bool(fields) and fields[0].startswith("qid:")
    if not re.fullmatch(_NUMBER, label):
        why = f"the relevance {label!r} is not a number"
    elif not math.isfinite(float(label)):
        why = f"the relevance {label!r} is too large"
    elif queried and not re.fullmatch(r"qid:\d+", fields[0]):
        why = f"{fields[0]!r} is no whole number"
    elif queried and int(fields[0][4:]) >= 2**63:
        why = f"{fields[0]!r} is too large"
    else:
        why = _wrong_features(fields[queried:])
    return why, queried


def _wrong_features(fields: list[str]) -> str:
    before = -1
    for field in fields:
        pair = _PAIR.fullmatch(field)
        if pair is None:
            return f"{field!r} is no feature:value"
        if int(pair[1]) <= before:
            return f"feature {pair[1]} comes after feature {before}"
        before = int(pair[1])
        if before > LAST:
            return f"feature {before} is beyond the last that can be, {LAST}"
        if abs(float(pair[2])) > _LARGEST:
            return f"the value of {field!r} is beyond the range of 32-bit numbers"
    return ""


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
        wide = widened(self.path, sparse.csr_array(self.features), count)
        return wide if sparse.issparse(self.features) else wide.toarray()

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
            chunk = text if judged else labeled(text)
            rows = _parsed(path, chunk, judged=judged)
            if len(rows[1]):
                blocks.append(rows)
                own = data_lines(chunk.splitlines()) if b"#" in chunk else ()
                names += [document_of(line) for _, line in own] or [""] * len(rows[1])
    if not blocks:
        raise DataError(f"{path}: is empty")
    features, targets, found = zip(*blocks, strict=True)
    target = np.concatenate(targets) if judged else np.zeros(sum(map(len, targets)))
    wrong = np.flatnonzero(target < 0)
    if len(wrong):
        raise DataError(
            f"{path}: line {line_of(path, int(wrong[0]))}: the relevance must not be below "
            f"0, got {target[wrong[0]]:g}; {len(wrong)} lines are such"
        )
    ids, groups = _queries(path, np.concatenate(found), len(target), sizes, judged=judged)
    documents = tuple(names) if any(names) else None
    width = max(block.shape[1] for block in features)
    whole = sparse.vstack([widened(path, block, width) for block in features], format="csr")
    return Letor(path, compact(whole), target, groups, ids, documents)


def _parsed(path: Path, chunk: bytes, *, judged: bool) -> Sparse:
    try:
        rows = load_rows(io.BytesIO(chunk), "rankwise.data.letor", np.float32)
    except (ValueError, OverflowError) as error:
        complain(path, judged=judged)
        raise DataError(f"{path}: cannot be read as svmlight: {error}") from error
    features, target, queries = rows
    finite = np.isfinite(features.data).all() and np.isfinite(target).all()
    fits = features.shape[1] <= LAST + 1
    if not (finite and fits) or len(queries) not in (0, len(target)):
        complain(path, judged=judged)
        raise DataError(
            f"{path}: some lines have qid: and others have not, or a value is not a number"
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
