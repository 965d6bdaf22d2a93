from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.boosting.engines.grown import grown, table

from rankwise.boosting.engines import engine_of
from rankwise.boosting.gradient import log_loss_gradient
from rankwise.boosting.rows import Rows


@pytest.fixture(params=["lightgbm", "xgboost"])
def kind(request):
    return engine_of(request.param)


def test_gradients_are_asked_at_the_scores_of_the_trees_so_far(kind) -> None:
    train, seen = table(), []

    def spy(scores, rows):
        seen.append(np.array(scores))
        assert rows.X is train.X
        assert rows.round == len(seen) - 1
        return log_loss_gradient(scores, rows)

    engine = grown(kind, 0, start=-1.5, train=train)
    for _ in range(3):
        engine.grow(spy)
    np.testing.assert_allclose(seen[0], -1.5)
    engine.cut(2)
    found = -1.5 + kind.read(engine.text(), 1)(train.X)
    np.testing.assert_allclose(seen[2], found, atol=1e-5)


def test_values_are_of_the_rows_held_out(kind) -> None:
    other = table(80, seed=1)
    engine = grown(kind, held_out=other)
    told = []
    assert engine.value(lambda scores: told.append(np.array(scores)) or 0.25) == 0.25
    scores = kind.read(engine.text(), 1)(other.X)
    assert len(told[0]) == 80
    np.testing.assert_allclose(told[0] - told[0].mean(), scores - scores.mean(), atol=1e-5)


@pytest.mark.parametrize("rounds", [0, 2])
def test_cut_and_grown_again_is_as_if_never_grown(kind, rounds) -> None:
    once = grown(kind, 4)
    again = grown(kind, 6)
    again.cut(rounds)
    assert again.rounds == rounds
    while again.rounds < 4:
        again.grow(log_loss_gradient)
    X = table(50, seed=3).X
    first, second = (kind.read(engine.text(), 1)(X) for engine in (once, again))
    np.testing.assert_allclose(first, second, atol=1e-5)


def test_no_trees_score_zero(kind) -> None:
    engine = grown(kind, 0)
    np.testing.assert_allclose(kind.read(engine.text(), 1)(table().X), 0, atol=1e-7)


def test_missing_values_and_categories_are_native(kind) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    X[:, 1] = rng.integers(0, 6, 400)
    target = np.isin(X[:, 1], [1, 4]).astype(float)  # no threshold separates these
    X[::7, 0] = np.nan
    trees = {"num_leaves": 2, "categories": (1,), "min_child_samples": 2}
    engine = grown(kind, 1, train=Rows(target, X=X), **trees)
    X[0, 1] = np.nan
    scores = kind.read(engine.text(), 1)(X)[1:]
    assert scores[target[1:] == 1].min() > scores[target[1:] == 0].max()


def test_sparse_rows_are_taken(kind) -> None:
    train = table()
    sparse = np.where(np.abs(train.X) > 0.5, train.X, 0)
    engine = grown(kind, train=replace(train, X=csr_array(sparse)))
    scores = kind.read(engine.text(), 1)(csr_array(sparse))
    assert scores[train.positive].mean() > scores[~train.positive].mean() + 0.5


def test_samples_depend_on_the_seed_alone(kind) -> None:
    X = table(50, seed=3).X
    settings = {"subsample": 0.5, "colsample": 0.7}
    one, same, other = (
        kind.read(grown(kind, seed=seed, **settings).text(), 1)(X) for seed in (1, 1, 2)
    )
    assert (one == same).all()
    assert (one != other).any()


def test_other_texts_are_refused(kind) -> None:
    with pytest.raises(ValueError, match="the trees are not"):
        kind.read("something else", 1)
