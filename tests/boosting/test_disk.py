"""A matrix on disk against the same matrix in memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.boosting import disk
from rankwise.boosting.disk import DiskMatrix, by_blocks


@pytest.fixture(scope="module")
def known():
    return np.random.default_rng(0).standard_normal((101, 3)).astype(np.float32)


@pytest.fixture(scope="module")
def matrix(known, tmp_path_factory):
    path = tmp_path_factory.mktemp("disk") / "rows"
    return DiskMatrix.write(path, 3, np.array_split(known, 4))


masks = st.lists(st.booleans(), min_size=101, max_size=101).map(np.array)


@settings(deadline=None)
@given(first=masks, numbers=st.lists(st.integers(0, 30)), start=st.integers(-20, 120))
def test_rows_and_products_are_those_of_memory(known, matrix, first, numbers, start):
    for rows, there in ((matrix, known), (matrix.select(first), known[first])):
        assert rows.shape == there.shape
        assert (len(rows), rows.size, rows.ndim) == (len(there), there.size, 2)
        np.testing.assert_array_equal(rows[start : start + 30], there[start : start + 30])
        np.testing.assert_array_equal(np.concatenate([*rows.blocks(100), there[:0]]), there)
        if len(there) > 30:
            chosen = np.array(numbers, dtype=np.int64)
            np.testing.assert_array_equal(rows[chosen], there[chosen])
        if len(there) > 2:
            half = np.arange(0, len(there), 2)
            np.testing.assert_array_equal(rows.select(half)[:], there[half])
        weights, factors = np.array([1.0, -2.0, 0.5]), np.linspace(-1, 1, len(there))
        np.testing.assert_allclose(rows @ weights, there @ weights, atol=1e-12)
        np.testing.assert_allclose(rows @ np.eye(3), there, atol=1e-12)
        product = factors @ rows
        assert product.dtype == np.float64
        np.testing.assert_allclose(product, there.T.astype(float) @ factors, atol=1e-12)


def test_a_type_of_its_own(tmp_path, known):
    wide = DiskMatrix.write(tmp_path / "rows", 3, [known], np.float64)
    assert wide[:].dtype == np.float64
    np.testing.assert_array_equal(wide[:], known)


def test_a_function_of_rows_takes_blocks(matrix, known):
    sizes = []

    def scores(rows):
        sizes.append(len(rows))
        return rows.sum(1).astype(np.float64)

    both = by_blocks(scores)
    np.testing.assert_array_equal(both(matrix), both(known))
    assert sizes[-1] == 101


def test_rows_far_apart_are_read_without_those_between(tmp_path, monkeypatch):
    rows = np.arange(3_000, dtype=np.float32).reshape(-1, 3)
    matrix = DiskMatrix.write(tmp_path / "rows", 3, [rows])
    places = np.array([0, 1, 2, 900, 901, 999])
    read = []
    monkeypatch.setattr(DiskMatrix, "_read", lambda self, *ends: read.append(ends))
    np.testing.assert_array_equal(
        np.concatenate(list(matrix.select(places).blocks())), rows[places]
    )
    assert not read


def test_the_rows_between_those_of_a_block_are_read_block_by_block(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "BLOCK", 120)
    rows = np.arange(3_000, dtype=np.float32).reshape(-1, 3)
    matrix = DiskMatrix.write(tmp_path / "rows", 3, [rows])
    places, read, ends = np.arange(3, 1000, 5), DiskMatrix._read, []

    def counted(self, start, stop):
        ends.append((start, stop))
        return read(self, start, stop)

    monkeypatch.setattr(DiskMatrix, "_read", counted)
    (block,) = matrix.select(places).blocks(10**6)
    np.testing.assert_array_equal(block, rows[places])
    assert ends == [(start, min(start + 10, 999)) for start in range(3, 999, 10)]
