"""Lists of documents with features and relevances."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rankwise.data.errors import DataError
from rankwise.data.letor.lines import line_of

__all__ = ["Letor", "Matrix"]

Matrix: TypeAlias = NDArray[np.float32] | sparse.csr_array


@dataclass(frozen=True, eq=False)
class Letor:
    """The lines of a file; those of one query stand together."""

    path: Path
    features: Matrix  # (documents, columns): column j is feature j, whether there is a 0 or not
    target: NDArray[np.float64]  # relevances >= 0
    groups: NDArray[np.int64]  # 0, 1, …: the query of every document, in the order of the file
    queries: tuple[str, ...]  # the id of each query; its number where only sizes are known
    documents: tuple[str, ...] | None = None  # the id of each document, where comments have it

    def __len__(self) -> int:
        return len(self.target)

    @property
    def width(self) -> int:
        """One more than the number of the last feature."""
        return int(self.features.shape[1])

    def columns(self, count: int) -> Matrix:
        """Return the features for a model of ``count`` columns; missing ones are 0."""
        if self.width > count:
            raise DataError(
                f"{self.path}: has feature {self.width - 1}, the last of the model is {count - 1}"
            )
        if self.width == count:
            return self.features
        wide = sparse.csr_array(self.features)
        wide.resize(len(self), count)
        return wide if sparse.issparse(self.features) else wide.toarray()

    def place(self, row: int) -> str:
        """File and line of a document, for a message."""
        if not self.path.is_file():  # lists that somebody made
            return f"{self.path}: row {row + 1}"
        return f"{self.path}: line {line_of(self.path, row)}"

    def document(self, row: int) -> str:
        """The id of a document; its place in its list where the file has none."""
        if self.documents is not None and self.documents[row]:
            return self.documents[row]
        first = int(np.searchsorted(self.groups, self.groups[row]))
        return f"{self.queries[self.groups[row]]}-{row - first + 1}"
