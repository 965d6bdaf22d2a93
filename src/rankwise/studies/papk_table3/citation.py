"""Citation recommendation: a table of pairs with the embeddings of both papers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from rankwise.data import DataError
from rankwise.studies.papk_table3.instances import Instances, crossed

__all__ = ["is_citation", "read_citation"]


def is_citation(path: Path) -> bool:
    """Whether this is a table with embeddings of users and items."""
    if path.suffix not in {".csv", ".parquet"} or not path.is_file():
        return False
    return {"user", "item", "label", "user_0", "item_0"} <= set(_scan(path).collect_schema())


def read_citation(path: Path) -> Instances:
    """A csv or parquet file with a row for every pair of papers.

    Columns ``user``, ``item``, ``label`` (0/1), the GloVe embeddings ``user_0`` … and ``item_0`` …
    of the same length (50 in the paper) and any ``context_0`` … (7, of authors and conferences).
    The products are made here: 3 · 50 + 7 = 157 features.
    """
    frame = _scan(path).collect()
    user, item = (_matrix(path, frame, f"{side}_") for side in ("user", "item"))
    if user.shape != item.shape or not user.shape[1]:
        raise DataError(
            f"{path}: users and items must have embeddings of the same length, got "
            f"{user.shape[1]} and {item.shape[1]} columns"
        )
    label = frame["label"].cast(pl.Float64, strict=False).to_numpy()
    wrong = ~np.isin(label, (0.0, 1.0))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        got = frame["label"][row]
        raise DataError(f"{path}: row {row + 1}: the label must be 0 or 1, got {got!r}")
    context = _matrix(path, frame, "context_")
    return Instances(
        "Citation",
        np.concatenate([crossed(user, item), context], axis=1),
        label == 1,
        np.unique(frame["user"].to_numpy(), return_inverse=True)[1].astype(np.int64),
        f"Embeddings of the paper in progress and of the candidate with their product, "
        f"3 · {user.shape[1]} features, and {context.shape[1]} of authors and conferences.",
    )


def _scan(path: Path) -> pl.LazyFrame:
    return pl.scan_parquet(path) if path.suffix == ".parquet" else pl.scan_csv(path)


def _matrix(path: Path, frame: pl.DataFrame, prefix: str) -> np.ndarray:
    places = sorted(
        int(name.removeprefix(prefix))
        for name in frame.columns
        if name.startswith(prefix) and name.removeprefix(prefix).isdigit()
    )
    if places != list(range(len(places))):
        raise DataError(f"{path}: the columns {prefix}… must count from 0, got {places[:5]}")
    values = frame.select(pl.col(f"{prefix}{i}").cast(pl.Float64) for i in places)
    matrix = values.to_numpy().reshape(frame.height, len(places))
    if not np.isfinite(matrix).all():
        row = int(np.flatnonzero(~np.isfinite(matrix).all(1))[0])
        raise DataError(f"{path}: row {row + 1}: {prefix}… must be numbers, got a gap or infinity")
    return matrix
