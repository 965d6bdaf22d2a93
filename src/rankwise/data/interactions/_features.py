"""Features of users or items as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.data.errors import DataError, reads
from rankwise.data.files import format_of, read_frame, require_columns, require_finite
from rankwise.data.interactions._layouts import atomic_frame
from rankwise.errors import short_repr

WORDS = 256  # of a column that get a place of their own, the most frequent first


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Features of users or items, one row per id.

    Args:
        names: Names of the features.
        values: Values, shape (ids, names).
        without: Number of ids that the file does not have; all their values are 0.
        left_out: Columns left out, since their values hardly repeat.

    Example:
        >>> import numpy as np
        >>> from rankwise.data.interactions import FeatureTable
        >>> table = FeatureTable(("age",), np.zeros((2, 1), dtype=np.float32), 0, ())
        >>> table.values.shape
        (2, 1)
    """

    names: tuple[str, ...]
    values: NDArray[np.float32]
    without: int
    left_out: tuple[str, ...]


@reads("features")
def read_features(
    path: str | Path, ids: Sequence[str], *, id_column: str | None = None
) -> FeatureTable:
    """Read a csv, parquet or RecBole file (``.user``, ``.item``) of features by id.

    A number is standardized, and 0 where it is missing. Text becomes words: 1 for each of the most
    frequent words that a row has, so ``"Action Comedy"`` is two. A column of words that hardly
    repeat is left out.

    Args:
        path: The file.
        ids: Ids of the users or items, in the order of the rows to return.
        id_column: Column with the id; None: the first one.

    Returns:
        A row of features per id.

    Raises:
        DataError: If the file cannot be read, repeats an id, or has none of the ids.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from rankwise.data.interactions import read_features
        >>> file = Path(tempfile.mkdtemp()) / "items.csv"
        >>> _ = file.write_text("item,year\\na,1990\\nb,2010\\n")
        >>> read_features(file, ["b", "a"]).values.tolist()  # standardized
        [[1.0], [-1.0]]
    """
    path = Path(path)
    atomic = path.suffix in (".user", ".item")
    frame = atomic_frame(path) if atomic else read_frame(path, format_of(path))
    if id_column is not None:
        require_columns(path, frame.columns, [id_column], "id")
    require_finite(path, frame)
    key = id_column or frame.columns[0]
    place = _places(path, frame[key], ids)
    names, blocks, left_out = [], [], []
    for column in frame.drop(key):
        words, block = _block(column)
        if block is None:
            left_out.append(column.name)
            continue
        names += words
        blocks.append(np.concatenate([block, np.zeros((1, block.shape[1]), np.float32)])[place])
    if not blocks:
        raise DataError(f"{path}: has no column of features next to {short_repr(key)}; add one")
    without = int((place == frame.height).sum())
    return FeatureTable(tuple(names), np.concatenate(blocks, axis=1), without, tuple(left_out))


def _places(path: Path, column: pl.Series, ids: Sequence[str]) -> NDArray[np.int64]:
    """The row of every id; one more than there are where the file does not have it."""
    if column.dtype.is_float() and bool((column == column.round()).all()):
        column = column.cast(pl.Int64)
    words = column.cast(pl.String)
    if (twice := words.filter(words.is_duplicated())).len():
        raise DataError(f"{path}: the id {short_repr(twice[0])} is there more than once")
    known = {name: row for row, name in enumerate(words)}
    found = np.array([known.get(name, len(words)) for name in ids], dtype=np.int64)
    if (found == len(words)).all():
        raise DataError(
            f"{path}: has none of the {len(ids)} ids of the interactions, such as "
            f"{short_repr(ids[0])}; its ids are such as {short_repr(words[0])}"
        )
    return found


def _block(column: pl.Series) -> tuple[list[str], NDArray[np.float32] | None]:
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        values = column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
        there = np.isfinite(values)
        spread = values[there].std() if there.any() else 0.0
        if spread == 0:
            return [], None
        standard = np.where(there, (values - values[there].mean()) / spread, 0)
        return [column.name], standard[:, None].astype(np.float32)
    lists = column.cast(pl.String).fill_null("").str.split(" ")
    words = lists.list.explode(keep_nulls=False, empty_as_null=False)
    counts = words.filter(words != "").value_counts(sort=True)
    if not counts.height or counts.height > 0.5 * len(column):
        return [], None
    kept = sorted(counts.filter(pl.col("count") > 1).to_series(0).to_list()[:WORDS])
    place = {word: number for number, word in enumerate(kept)}
    block = np.zeros((len(column), len(kept)), dtype=np.float32)
    for row, said in enumerate(lists):
        block[row, [place[word] for word in said if word in place]] = 1
    return [f"{column.name}={word}" for word in kept], block
