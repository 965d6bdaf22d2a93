from __future__ import annotations

import numpy as np
import pytest

from rankwise.report.comparison.measured.groups import meet, values_by_group
from rankwise.report.comparison.reading import Predictions


def predictions(scores, target, group, weight=None):
    weight = np.ones(len(target)) if weight is None else weight
    return Predictions(np.array(target), weight, np.array(group), {0: np.array(scores)}, {})


def test_one_value_per_list_and_none_for_one_class():
    given = predictions(
        [3.0, 2.0, 1.0, 3.0, 2.0, 1.0, 0.0], [1.0, 0, 0, 0, 1.0, 0, 0], [0, 0, 0, 1, 1, 2, 2]
    )
    values = values_by_group("ap", given, 0)
    assert values[:2].tolist() == [1, 1 / 2]
    assert np.isnan(values[2])
    assert values_by_group("precision@1", given, 0)[:2].tolist() == [1, 0]


def test_weights_are_used():
    given = predictions([2.0, 1.0], [0.0, 1.0], [0, 0], np.array([3.0, 1.0]))
    assert values_by_group("ap", given, 0) == pytest.approx([1 / 4])


def test_lists_are_compared_where_both_have_a_value():
    found = meet(np.array([1.0, 0.5, np.nan, 0.2, 0.2]), np.array([0.5, 0.5, 1, np.nan, 0.9]))
    assert (found.better, found.equal, found.worse) == (1, 1, 1)
