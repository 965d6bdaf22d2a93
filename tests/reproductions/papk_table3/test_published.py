"""The printed numbers beside ours: found by data set, method and k."""

from __future__ import annotations

import numpy as np
import pytest

from reproductions.papk_table3.instances import Instances
from reproductions.papk_table3.measure import BASELINES, METHODS, OURS, RANDOM, Plan
from reproductions.papk_table3.published import KS, PUBLISHED
from reproductions.papk_table3.study import _published


def plan(name: str) -> Plan:
    """Of a data set nothing but its name and its ks."""
    none = np.zeros(0)
    rows = Instances(name, none[:, None], none.astype(bool), none.astype(np.int64), "")
    return Plan(rows, KS[name])


def test_the_same_methods_are_printed_for_every_data_set():
    assert PUBLISHED.keys() == KS.keys()
    assert len({frozenset(rows) for rows in PUBLISHED.values()}) == 1
    # What the paper has not: a surrogate that is not convex, and logistic regression.
    unprinted = [name for name in METHODS if name not in PUBLISHED["Movielens"]]
    assert unprinted == ["GD-pAp@k-ramp", "logistic"]
    assert "GD-pAp@k-ramp" in OURS
    assert "logistic" in BASELINES


@pytest.mark.parametrize("name", KS)
def test_ks_rise_and_every_one_has_a_value(name):
    assert list(KS[name]) == sorted(set(KS[name]))
    for row in PUBLISHED[name].values():
        assert len(row) == len(KS[name])
        assert all(1 < value < 100 for value in row)  # per cent
        assert row[-1] > row[0]  # with more places more is found


@pytest.mark.parametrize("name", KS)
def test_every_printed_number_is_shown_at_its_own_k(name):
    asked = plan(name)
    for method, row in PUBLISHED[name].items():
        shown = [_published(asked, method, k) for k in KS[name]]
        assert [float(each.strip(" ()")) for each in shown] == list(row)


def test_nothing_is_shown_for_what_is_not_printed():
    asked = plan("Citation")
    assert _published(asked, "logistic", 6) == ""
    assert _published(asked, RANDOM, 6) == ""
    assert _published(asked, "SVM-pAUC", 7) == ""
    assert _published(asked, "SVM-pAUC", 6) == " (14.5)"
