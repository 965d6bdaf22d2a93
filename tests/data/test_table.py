from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from rankwise.data.table import Table

NUMBERS = np.arange(12.0).reshape(4, 3)
KINDS = {
    "frame": pl.DataFrame(NUMBERS, schema=["a", "b", "c"]),
    "array": NUMBERS,
    "sparse": sparse.csr_array(NUMBERS),
}


def dense(features) -> np.ndarray:
    return features.toarray() if sparse.issparse(features) else np.asarray(features)


def table(features=NUMBERS, target=(0, 1, 0, 2), **more) -> Table:
    names, kinds = ("a", "b", "c"), ("numeric",) * 3
    return Table(Path("x.csv"), features, names, kinds, np.array(target, dtype=float), **more)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [[2, 0], [3], []])
def test_rows_are_taken_by_number_and_in_that_order(kind: str, rows: list[int]) -> None:
    chosen = np.array(rows, dtype=np.int64)
    found = table(KINDS[kind]).of(chosen)
    assert type(found) is type(KINDS[kind])
    np.testing.assert_array_equal(dense(found), NUMBERS[chosen])


def test_names_of_columns_stay_with_some_rows() -> None:
    found = table(KINDS["frame"]).of(np.array([1]))
    assert isinstance(found, pl.DataFrame)
    assert found.columns == ["a", "b", "c"]


def test_relevances_are_those_without_a_positive_value() -> None:
    assert table().graded
    assert not table(target=(0, 1, 0, 1), positive="yes").graded


def test_any_relevance_counts_as_positive() -> None:
    assert (len(table()), table().positives) == (4, 2)
