from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.reproductions.papk_table3.generated import generated_ratings

from rankwise.data import DataError
from rankwise.estimators.data import Part
from reproductions.frame import Setting
from reproductions.papk_table3 import measure as measuring
from reproductions.papk_table3.measure import (
    METHODS,
    Plan,
    _cell,
    gain,
    measure,
    with_negatives,
)
from reproductions.papk_table3.movielens import movielens
from reproductions.papk_table3.published import KS, PUBLISHED


def test_without_data_it_says_what_is_needed():
    with pytest.raises(DataError, match=r"--data with MovieLens' u\.data, RecBole"):
        Plan.of(Setting())


def test_every_published_method_is_one_of_ours():
    for data, rows in PUBLISHED.items():
        assert set(rows) <= set(METHODS)
        assert {len(row) for row in rows.values()} == {len(KS[data])}


def test_a_killed_study_goes_on_where_it_was(tmp_path, monkeypatch):
    data = movielens(generated_ratings(), first=6, factors=2, least=8)
    plan = Plan(data, ks=(3,), splits=1, etas=(0.1,), lams=(0.001, 0.1), steps=4)
    whole, made = measure(plan, Setting()), []

    def cell(ranker, named, *others):
        if len(made) == 3:
            raise KeyboardInterrupt
        made.append(named)
        return _cell(ranker, named, *others)

    setting = Setting(folder=tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(measuring, "_cell", cell)
        with pytest.raises(KeyboardInterrupt):
            measure(plan, setting)
    assert measure(plan, setting) == whole
    monkeypatch.setattr(measuring, "_cell", None)  # all of it is there
    assert measure(plan, setting) == whole
    with pytest.raises(DataError, match="must be a new folder"):
        measure(replace(plan, steps=5), setting)


def test_the_grid_is_the_papers():
    plan = Plan(movielens(generated_ratings(), first=6, factors=2, least=8), ks=(3,))
    assert len(plan.etas) * len(plan.lams) == 60
    assert (plan.splits, min(plan.etas), max(plan.lams)) == (5, 1e-4, 10)


def test_gain_is_a_mean_over_users_and_ties_count_against():
    groups = np.array([0, 0, 0, 1, 1, 1])
    part = Part(None, np.array([1.0, 0, 0, 1, 0, 0]), None, groups)
    assert gain(part, np.array([1.0, 0, 2, 1, 1, 0]), 2) == pytest.approx(50)
    assert gain(part, np.array([1.0, 0, 2, 1, 1, 0]), 1) == 0


def test_users_with_k_negatives():
    part = Part(None, np.array([1.0, 0, 0, 1, 0]), None, np.array([0, 0, 0, 1, 1]))
    assert with_negatives(part, 2).tolist() == [True, True, True, False, False]
