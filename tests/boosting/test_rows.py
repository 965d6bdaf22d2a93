from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

from rankwise.boosting.rows import rows_of

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 1, 0, 0, 2, 1])


def _lightgbm(**beside) -> lgb.Dataset:
    return lgb.Dataset(X, Y, params={"verbosity": -1}, **beside).construct()


def test_lightgbm_data_is_read() -> None:
    plain = rows_of(_lightgbm())
    assert plain.target.tolist() == Y.tolist()
    assert plain.weight is None
    assert plain.groups is None
    rows = rows_of(_lightgbm(weight=[1, 2, 3, 4, 5, 6], group=[2, 4]))
    assert rows.weight.tolist() == [1, 2, 3, 4, 5, 6]
    assert rows.groups.tolist() == [0, 0, 1, 1, 1, 1]


def test_xgboost_data_is_read() -> None:
    plain = rows_of(xgb.DMatrix(X, Y))
    assert plain.target.tolist() == Y.tolist()
    assert plain.weight is None
    assert plain.groups is None
    rows = rows_of(xgb.DMatrix(X, Y, weight=[1, 2, 3, 4, 5, 6]))
    assert rows.weight.tolist() == [1, 2, 3, 4, 5, 6]


def test_xgboost_weight_of_a_list_is_that_of_its_rows() -> None:
    data = xgb.DMatrix(X, Y)
    data.set_group([2, 4])
    data.set_weight([3.0, 5.0])
    rows = rows_of(data)
    assert rows.groups.tolist() == [0, 0, 1, 1, 1, 1]
    assert rows.weight.tolist() == [3, 3, 5, 5, 5, 5]


def test_lists_must_cover_the_rows() -> None:
    class Data:
        def get_label(self):
            return Y

        def get_weight(self):
            return None

        def get_group(self):
            return [2, 3]

    with pytest.raises(ValueError, match="must have 6 rows together, one per label, got 5"):
        rows_of(Data())
