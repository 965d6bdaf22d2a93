from __future__ import annotations

import numpy as np
import pytest

from rankwise.boosting import merging
from rankwise.boosting.gradient import ObjectiveGradient
from rankwise.boosting.merging import merge
from rankwise.boosting.objectives import stateless_objective
from rankwise.boosting.rows import Rows

from .cases import ranked


def test_short_and_grouped_and_graded_lists_are_left_alone() -> None:
    scores, rows = ranked(100)
    assert merge(scores, rows).item is None
    long = np.random.default_rng(0).normal(size=merging.LONG + 1)
    target = (np.arange(len(long)) % 2).astype(float)
    assert merge(long, Rows(target)).item is not None
    assert merge(long, Rows(target), graded=True).item is None
    assert merge(long, Rows(target, None, np.zeros(len(long), dtype=np.int64))).item is None


@pytest.mark.parametrize("weighted", [False, True])
def test_mass_and_mean_are_kept(monkeypatch, weighted) -> None:
    monkeypatch.setattr(merging, "LONG", 10)
    monkeypatch.setattr(merging, "CELLS", 16)
    scores, rows = ranked(300, weight=weighted)
    merged = merge(scores, rows)
    weight = np.ones(300) if rows.weight is None else rows.weight
    assert len(merged.scores) <= 32
    for positive in (True, False):
        mine, theirs = merged.rows.positive == positive, rows.positive == positive
        np.testing.assert_allclose(merged.rows.weight[mine].sum(), weight[theirs].sum())
        np.testing.assert_allclose(
            merged.scores[mine] @ merged.rows.weight[mine], scores[theirs] @ weight[theirs]
        )
    back = merged.spread_out(merged.rows.weight, rows.weight)
    np.testing.assert_allclose(back, weight)


def test_equal_scores_are_one_item(monkeypatch) -> None:
    monkeypatch.setattr(merging, "LONG", 10)
    _, rows = ranked(50)
    merged = merge(np.full(50, 3.0), rows)
    assert merged.scores.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("name", ["ap", "ap(score_scale=auto)", "auc", "opauc(max_fpr=.1)"])
@pytest.mark.parametrize("weighted", [False, True])
def test_merged_gradient_is_nearly_that_of_all_rows(monkeypatch, name, weighted) -> None:
    scores, rows = ranked(2000, rate=0.1, weight=weighted)
    gradient = ObjectiveGradient(stateless_objective(name))
    whole = gradient(scores, rows)
    monkeypatch.setattr(merging, "LONG", 10)
    monkeypatch.setattr(merging, "CELLS", 4000)
    for exact, near in zip(whole, gradient(scores, rows), strict=True):
        # Rows at the edge of a selection or beside each other at the top may change places.
        assert np.abs(near - exact).sum() < 0.02 * np.abs(exact).sum()
