"""Click logs: how often each document was shown and clicked, by its position."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.data.errors import DataError
from rankwise.data.files import format_of, read_frame, require_columns
from rankwise.data.letor._letor import Letor

Vector = NDArray[np.float64]
_COLUMNS = ("query", "document", "position", "click")
_LARGEST = 1e15  # position or count: a whole number in float64, as is a sum of some of them


@dataclass(frozen=True, eq=False)
class Clicks:
    """Clicks on the documents of lists, added up by document and position.

    Args:
        path: The file.
        rows: Row of the document in the lists.
        positions: Position at which it was shown, from 1.
        shown: How often it was shown there.
        clicked: How often it was clicked there.

    Example:
        >>> import numpy as np
        >>> from pathlib import Path
        >>> from rankwise.data.letor import Clicks
        >>> log = Clicks(Path("log"), np.array([0, 0]), np.array([1, 2]), np.ones(2), np.ones(2))
        >>> len(log)
        2
    """

    path: Path
    rows: NDArray[np.int64]
    positions: NDArray[np.int64]
    shown: Vector
    clicked: Vector

    def __len__(self) -> int:
        return len(self.rows)


def read_clicks(path: str | Path, lists: Letor) -> Clicks:
    """Read a click log of lists.

    Args:
        path: A csv or parquet file with the columns ``query``, ``document``, ``position`` (from 1)
            and ``click`` (0 or 1), one row for every document that was shown; or added up, with a
            column ``shown`` and the number of clicks in ``click``. Documents are named as
            :meth:`Letor.document` names them.
        lists: The lists that were shown.

    Returns:
        The clicks by document and position.

    Raises:
        DataError: If a column is missing, a document is not in the lists, or a number is wrong.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from rankwise.data.letor import read_clicks, read_letor
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "lists.txt").write_text("0 qid:7 1:0.5\\n0 qid:7 1:0.1\\n")
        >>> rows = "query,document,position,click\\n7,7-1,1,1\\n7,7-2,2,0\\n7,7-1,1,0\\n"
        >>> _ = (folder / "clicks.csv").write_text(rows)
        >>> log = read_clicks(folder / "clicks.csv", read_letor(folder / "lists.txt"))
        >>> log.shown.tolist(), log.clicked.tolist()
        ([2.0, 1.0], [1.0, 0.0])
    """
    path = Path(path)
    frame = read_frame(path, format_of(path), dates=False, as_text=True)
    require_columns(path, frame.columns, _COLUMNS, "click")
    if "shown" not in frame.columns:
        frame = frame.with_columns(shown=pl.lit(1.0))
    numbers = [_number(path, frame, name) for name in ("position", "shown", "click")]
    frame = frame.select(
        pl.col("query", "document").cast(pl.String), *(number for number in numbers)
    )
    _require_counts(path, frame)
    known = pl.DataFrame(
        {
            "query": [lists.queries[group] for group in lists.groups.tolist()],
            "document": [lists.document(row) for row in range(len(lists))],
            "row": np.arange(len(lists)),
        }
    )
    joined = frame.join(known, on=["query", "document"], how="left", maintain_order="left")
    unknown = joined.filter(pl.col("row").is_null())
    if unknown.height:
        query, document = unknown.row(0)[:2]
        raise DataError(
            f"{path}: {unknown.height} rows have a document that is not in {lists.path}, such as "
            f"{document!r} of query {query!r}; a document is named by its comment (#docid = …) or "
            "by its place in the list (7-1 is the first of query 7)"
        )
    total = (
        joined.group_by("row", "position")
        .agg(pl.col("shown", "click").sum())
        .filter(pl.col("shown") > 0)  # else its click rate would be 0 / 0
        .sort("row", "position")
    )
    if not total.height:
        raise DataError(f"{path}: no document was shown; there is nothing to learn")
    return Clicks(
        path,
        total["row"].to_numpy().astype(np.int64),
        total["position"].to_numpy().astype(np.int64),
        total["shown"].to_numpy().astype(np.float64),
        total["click"].to_numpy().astype(np.float64),
    )


def _number(path: Path, frame: pl.DataFrame, name: str) -> pl.Series:
    found = frame[name].cast(pl.Float64, strict=False)
    wrong = found.is_null() | ~found.is_finite()
    if wrong.any():
        row = wrong.arg_max() or 0
        raise DataError(
            f"{path}: row {row + 1}: {name} must be a number, got {frame[name][row]!r:.40}"
        )
    return found


def _require_counts(path: Path, frame: pl.DataFrame) -> None:
    checks = {
        "position must be a whole number from 1": (pl.col("position") < 1)
        | (pl.col("position") != pl.col("position").floor()),
        f"position and shown must be at most {_LARGEST:g}": (pl.col("position") > _LARGEST)
        | (pl.col("shown") > _LARGEST),
        "click must be at least 0 and at most the number of times shown": (pl.col("click") < 0)
        | (pl.col("click") > pl.col("shown")),
    }
    for words, wrong in checks.items():
        found = frame.with_row_index().filter(wrong)
        if found.height:
            row = found.row(0, named=True)
            got = ", ".join(f"{name} {row[name]:g}" for name in ("position", "shown", "click"))
            raise DataError(f"{path}: row {row['index'] + 1}: {words}, got {got}")
