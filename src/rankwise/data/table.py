"""A table as the estimators take it: features beside a target."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Features", "Kind", "Table", "take"]

Kind = Literal["numeric", "categorical"]
Features: TypeAlias = pl.DataFrame | NDArray[np.float64] | sparse.csr_array


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of a file, read and checked."""

    path: Path
    features: Features  # a frame where columns have names; svmlight: an array, sparse if it is
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]  # of every feature
    target: NDArray[np.float64]  # 1 for the positive class, or relevances
    positive: str | None = None  # the value of the target that became 1; None: relevances
    groups: NDArray[np.int64] | None = None  # which list a row belongs to
    time: NDArray[np.float64] | None = None  # what orders the rows
    score: NDArray[np.float64] | None = None  # the scores of somebody's model
    left_out: tuple[str, ...] = ()  # columns that name rows rather than describe them
    slips: tuple[str, ...] = ()  # what is odd about columns, in words

    def __len__(self) -> int:
        return len(self.target)

    @property
    def graded(self) -> bool:
        """Whether the target holds relevances rather than two classes."""
        return self.positive is None

    @property
    def positives(self) -> int:
        """Rows of the positive class, or with any relevance."""
        return int(np.count_nonzero(self.target))

    def of(self, rows: NDArray[Any]) -> Features:
        """The features of some rows, by number."""
        return take(self.features, rows)


def take(features: Features, rows: NDArray[Any]) -> Features:
    """Some rows of features, by number."""
    taken: Features = features[rows]
    return taken
