from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from rankwise.estimators.linear import _search as module
from rankwise.estimators.linear._search import Design


def _rows() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(50, 4)) * [1, 10, 1e-3, 2] + [0, 5, 1e3, -1]


def test_columns_of_mean_zero_and_spread_one() -> None:
    design = Design(_rows(), None)
    np.testing.assert_allclose(design.matrix.mean(0), 0, atol=1e-9)
    np.testing.assert_allclose(design.matrix.std(0), 1)


def test_a_weight_is_that_many_rows() -> None:
    weight = np.random.default_rng(1).integers(1, 4, 50)
    once, many = Design(_rows(), weight.astype(float)), Design(np.repeat(_rows(), weight, 0), None)
    np.testing.assert_allclose(once.mean, many.mean)
    np.testing.assert_allclose(once.spread, many.spread)


def test_coefficients_for_the_rows_themselves() -> None:
    design, w = Design(_rows(), None), np.array([1.0, -2, 3, 0.5])
    coefficients, intercept = design.unscaled(w, 0.7)
    np.testing.assert_allclose(_rows() @ coefficients + intercept, design.scores(w) + 0.7)


@pytest.mark.parametrize("big", [False, True])
def test_the_gradient_is_of_the_scores(big: bool, monkeypatch) -> None:
    monkeypatch.setattr(module, "_BIG", 0 if big else 10**9)
    design, rng = Design(_rows(), None), np.random.default_rng(2)
    assert design.matrix.dtype == (np.float32 if big else np.float64)
    w, g = rng.normal(size=4), rng.normal(size=50)
    assert g @ design.scores(w) == pytest.approx(w @ design.gradient(g), rel=1e-5)


def test_sparse_rows_are_divided_but_not_moved() -> None:
    rows = np.where(np.abs(_rows()) > 1, _rows(), 0)
    design = Design(csr_array(rows), None)
    np.testing.assert_allclose(design.spread[[0, 1, 3]], rows.std(0)[[0, 1, 3]])
    assert (design.mean == 0).all()
    assert design.matrix.nnz == np.count_nonzero(rows)
    w = np.array([1.0, 2, 0, 4])
    coefficients, intercept = design.unscaled(w, 0.0)
    np.testing.assert_allclose(rows @ coefficients + intercept, design.scores(w))


def test_columns_that_do_not_vary_and_rows_as_they_are() -> None:
    rows = np.stack([np.full(10, 0.1), np.arange(10.0)], 1)
    assert Design(rows, None).spread[0] == 1
    assert (Design(rows, None, raw=True).matrix == rows).all()
