from __future__ import annotations

import numpy as np
import pytest

from rankwise.data import DataError
from rankwise.estimators.data import Part
from rankwise.studies import Setting
from rankwise.studies.papk_table3.measure import METHODS, Plan, gain, with_negatives
from rankwise.studies.papk_table3.published import KS, PUBLISHED


def test_without_data_it_says_what_is_needed():
    with pytest.raises(DataError, match=r"--data with MovieLens' u\.data, RecBole"):
        Plan.of(Setting())


def test_every_published_method_is_one_of_ours():
    for data, rows in PUBLISHED.items():
        assert set(rows) <= set(METHODS)
        assert {len(row) for row in rows.values()} == {len(KS[data])}


def test_gain_is_a_mean_over_users_and_ties_count_against():
    groups = np.array([0, 0, 0, 1, 1, 1])
    part = Part(None, np.array([1.0, 0, 0, 1, 0, 0]), None, groups)
    assert gain(part, np.array([1.0, 0, 2, 1, 1, 0]), 2) == pytest.approx(50)
    assert gain(part, np.array([1.0, 0, 2, 1, 1, 0]), 1) == 0


def test_users_with_k_negatives():
    part = Part(None, np.array([1.0, 0, 0, 1, 0]), None, np.array([0, 0, 0, 1, 1]))
    assert with_negatives(part, 2).tolist() == [True, True, True, False, False]
