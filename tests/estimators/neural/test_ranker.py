from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import torch
from scipy.sparse import csr_array

from rankwise.estimators import NeuralRanker

SMALL = {"hidden": (16,), "epochs": 20, "learning_rate": 0.03, "batch_size": 128}


def _ring(n: int = 1500, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Positives near the middle: nothing a linear model could rank."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, ((X**2).sum(1) < 0.15).astype(int)


@pytest.mark.parametrize(
    "objective", ["log_loss", "ap", "soprc", "soap", "auc", "aucm", "sopa_s(.3)"]
)
def test_it_learns_what_is_not_linear(objective: str) -> None:
    X, y = _ring()
    ranker = NeuralRanker(objective, metric="ap", random_state=0, **SMALL).fit(X, y)
    assert ranker.score(*_ring(seed=1)) > 0.8


def test_the_global_random_state_is_left_alone() -> None:
    torch.manual_seed(3)
    wanted = torch.rand(2)
    torch.manual_seed(3)
    NeuralRanker(epochs=1, hidden=(4,)).fit(*_ring(100))
    assert torch.rand(2).equal(wanted)


def test_the_best_epoch_is_kept_and_patience_ends() -> None:
    X, y = _ring(400)
    ranker = NeuralRanker(
        epochs=60, warm_start_epochs=2, patience=3, random_state=0, hidden=(8,), learning_rate=0.1
    ).fit(X, y)
    assert ranker.n_iter_ == len(ranker.history_) < 60
    best = int(np.argmax(ranker.history_))
    assert ranker.n_iter_ - 1 - max(best, 1) >= 3 or max(ranker.history_) == ranker.history_[-1]


def test_all_epochs_are_cross_entropy_where_so_asked() -> None:
    X, y = _ring(300)
    one = NeuralRanker("ap", epochs=3, warm_start_epochs=3, random_state=0).fit(X, y)
    other = NeuralRanker("log_loss", epochs=3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


def _shop(n: int = 600, seed: int = 0) -> tuple[pl.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    shop, amount = rng.choice(["ada", "bob", "cy", "dee"], n), rng.normal(size=n)
    y = ((shop == "cy") & (rng.random(n) < 0.7)).astype(int)
    gaps = [None if gone else a for a, gone in zip(amount, rng.random(n) < 0.2, strict=True)]
    kind = pl.Series(["x", "y"] * (n // 2), dtype=pl.Categorical)
    return pl.DataFrame(
        {"shop": shop, "amount": pl.Series(gaps, dtype=pl.Float64), "kind": kind}
    ), y


def test_categories_gaps_and_unknown_words() -> None:
    table, y = _shop()
    ranker = NeuralRanker(random_state=0, **SMALL).fit(table, y)
    assert ranker.score(*_shop(seed=1)) > 0.6
    strange = table[:3].with_columns(shop=pl.Series(["new", None, "cy"]))
    assert np.isfinite(ranker.decision_function(strange)).all()
    unknown, missing, known = ranker.decision_function(
        pl.DataFrame({"shop": ["new", None, "cy"], "amount": [0.0] * 3, "kind": ["x"] * 3}).cast(
            {"kind": pl.Categorical}
        )
    )
    assert unknown == missing < known


def test_a_gap_can_say_something() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 1))
    y = (rng.random(600) < 0.2).astype(int)
    X[(y == 1) & (rng.random(600) < 0.8)] = np.nan
    assert NeuralRanker(random_state=0, **SMALL).fit(X, y).score(X, y) > 0.7


def test_sparse_rows_are_made_dense_by_batches() -> None:
    X, y = _ring(700)
    X = np.where(np.abs(X) < 0.1, 0, X)
    options = {"random_state": 0, "hidden": (4,), "epochs": 2, "batch_size": 64}
    dense = NeuralRanker(**options).fit(X, y).decision_function(X)
    sparse = NeuralRanker(**options).fit(csr_array(X), y).decision_function(csr_array(X))
    np.testing.assert_allclose(sparse, dense, rtol=1e-5, atol=1e-6)


def test_a_bar_is_shown_on_request(capsys) -> None:
    NeuralRanker(epochs=1, hidden=(2,), verbose=1).fit(*_ring(100))
    assert "epoch 1, metric" in capsys.readouterr().out
    NeuralRanker(epochs=1, hidden=(2,)).fit(*_ring(100))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("objective", ["ap", "soprc", "listnet", "log_loss", "song"])
def test_lists(objective: str) -> None:
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(400, 3)), np.repeat(np.arange(40), 10)
    y = (X[:, 0] + 0.3 * rng.normal(size=400) > 1).astype(int)
    ranker = NeuralRanker(objective, metric="ap", random_state=0, **SMALL)
    assert ranker.fit(X, y, groups=groups).score(X, y, groups=groups) > 0.85


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": 0}, "epochs must be"),
        ({"hidden": (8, 0)}, "hidden must be"),
        ({"batch_size": 0}, "batch_size must be"),
        ({"positives": 0}, "positives must be"),
        ({"learning_rate": 0.0}, "learning_rate must be"),
        ({"weight_decay": -1.0}, "weight_decay must be"),
        ({"warm_start_epochs": -1}, "warm_start_epochs must be"),
        ({"patience": 0}, "patience must be"),
        ({"device": "toaster"}, "device must be"),
        ({"hidden": 4}, r"hidden must be units of layers as \(64, 32\), got 4"),
        ({"hidden": "[4"}, "hidden must be units of layers"),
        ({"hidden": (4, 0)}, "hidden must be a whole number"),
    ],
)
def test_options_that_are_refused(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NeuralRanker(**options).fit(*_ring(100))
