"""Rankers of more than two classes: labels, scores, probabilities, files, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from scipy.special import softmax
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score
from sklearn.preprocessing import StandardScaler, label_binarize

from rankwise.estimators import BoostedRanker, LinearRanker, NeuralRanker, PApAtKRanker, Ranker
from rankwise.estimators._classes import ClassCalibrator, even_batches, log_odds, odds_of
from rankwise.estimators.data import Part

LINEAR = LinearRanker("ap", max_iter=20, random_state=0)
LIGHTGBM = BoostedRanker("ap", n_estimators=6, min_child_samples=5, random_state=0, n_jobs=1)
XGBOOST = BoostedRanker("ap", n_estimators=4, engine="xgboost", random_state=0, n_jobs=1)
NEURAL = NeuralRanker("ap", hidden=(8,), epochs=8, learning_rate=0.03, random_state=0)
EVERY = [LINEAR, LIGHTGBM, XGBOOST, NEURAL]
every = pytest.mark.parametrize("ranker", EVERY, ids=["linear", "lightgbm", "xgboost", "neural"])


def kinds(n: int = 200, seed: int = 0) -> tuple[Any, Any]:
    """Rows around three centers, one of them rare; labels in an order that is not theirs."""
    rng = np.random.default_rng(seed)
    number = rng.choice(3, n, p=[0.5, 0.4, 0.1])
    centers = np.array([[0, 0, 0], [2, 0, 0], [0, 2.5, 0]])
    return centers[number] + rng.normal(size=(n, 3)), np.array(["lynx", "ape", "yak"])[number]


X, Y = kinds()


def test_log_odds_are_those_of_the_softmax() -> None:
    logits = np.random.default_rng(0).normal(size=(50, 4)) * 3
    p = softmax(logits, axis=1)
    np.testing.assert_allclose(odds_of(logits), np.log(p) - np.log1p(-p), rtol=1e-9)
    far = torch.tensor([[800.0, 0.0, -800.0], [0.0, 0.0, 0.0]], requires_grad=True)
    found = log_odds(far)
    np.testing.assert_allclose(found.detach(), [[800, -800, -1600], [-np.log(2)] * 3], rtol=1e-6)
    found.sum().backward()
    assert far.grad is not None
    assert bool(far.grad.isfinite().all())
    some = torch.from_numpy(logits[:5]).requires_grad_()
    assert torch.autograd.gradcheck(log_odds, (some,))


@every
@pytest.mark.parametrize("objective", ["log_loss", "ap"])
def test_scores_probabilities_and_labels_agree(ranker: Any, objective: str, tmp_path: Any) -> None:
    fitted = clone(ranker).set_params(objective=objective).fit(X, Y)
    assert fitted.classes_.tolist() == ["ape", "lynx", "yak"]
    decision, shares = fitted.decision_function(X), fitted.predict_proba(X)
    assert decision.shape == shares.shape == (200, 3)
    np.testing.assert_allclose(shares.sum(1), 1)
    np.testing.assert_array_equal(decision.argmax(1), shares.argmax(1))
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[shares.argmax(1)])
    assert (fitted.predict(X) == Y).mean() > 0.7
    hot = label_binarize(Y, classes=fitted.classes_)
    wanted = average_precision_score(hot, decision, average="macro")
    assert fitted.score(X, Y) == pytest.approx(wanted, abs=1e-12)
    np.testing.assert_allclose(fitted.prior_, [(label == Y).mean() for label in fitted.classes_])
    again = Ranker.load(fitted.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.decision_function(X), decision)
    np.testing.assert_array_equal(again.predict_proba(X), shares)
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(again.prior_, fitted.prior_)


def labels(kind: str) -> Any:
    number = np.searchsorted(np.unique(Y), Y)
    return {
        "words": Y,
        "objects": Y.astype(object),
        "numbers": number * 10 - 3,
        "floats": number.astype(np.float32) * 2,
        "pandas": pd.Series(Y).astype("category"),
        "polars": pl.Series(Y).cast(pl.Categorical),
        "list": Y.tolist(),
    }[kind]


KINDS = ["words", "objects", "numbers", "floats", "pandas", "polars", "list"]


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_any_type_come_back(kind: str) -> None:
    given = labels(kind)
    fitted = LinearRanker("log_loss", max_iter=20, random_state=0).fit(X, given)
    assert set(fitted.predict(X).tolist()) <= set(np.asarray(given).tolist())
    assert fitted.classes_.tolist() == sorted(set(np.asarray(given).tolist()))
    assert fitted.score(X, given) > 0.8


def test_the_log_loss_model_is_the_multinomial_regression() -> None:
    alpha, scaled = 0.01, StandardScaler().fit_transform(X)
    ours = LinearRanker(
        "log_loss",
        *(),
        alpha=alpha,
        calibration=None,
        validation_fraction=0,
        tolerance=1e-9,
        max_iter=1000,
        random_state=0,
    ).fit(X, Y)
    theirs = LogisticRegression(C=1 / (alpha * len(X)), tol=1e-9, max_iter=1000).fit(scaled, Y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(scaled), atol=1e-5)
    assert ours.coef_.shape == (3, 3)
    assert ours.intercept_.shape == (3,)


def test_training_on_the_metric_ranks_better_where_the_model_is_wrong() -> None:
    """Two kinds of rows of the rare class, which no direction finds together."""
    rng = np.random.default_rng(0)

    def drawn(n: int) -> tuple[Any, Any]:
        y = rng.choice(3, n, p=[0.46, 0.46, 0.08])
        rows = rng.normal(size=(n, 3))
        rows[y == 1, 2] += 2
        far = (y == 2) & (rng.random(n) < 0.5)
        rows[far, 1] += 4
        rows[(y == 2) & ~far, :2] += [1.5, -1.5]
        return rows, y

    train, test = drawn(2000), drawn(4000)
    values = [
        LinearRanker(name, metric="ap", random_state=0).fit(*train).score(*test)
        for name in ("log_loss", "ap")
    ]
    assert values[1] > values[0] + 0.01


@every
def test_a_fit_that_is_resumed_ends_alike(ranker: Any, tmp_path: Any) -> None:
    whole = clone(ranker).fit(X, Y)
    path = tmp_path / "checkpoint"
    first = clone(ranker).fit(X, Y, checkpoint=path)
    again = clone(ranker).fit(X, Y, checkpoint=path)
    for fitted in (first, again):
        np.testing.assert_array_equal(fitted.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize("ranker", [LINEAR, LIGHTGBM, NEURAL], ids=["linear", "trees", "neural"])
def test_rows_of_a_file_give_the_model_of_memory(ranker: Any, tmp_path: Any) -> None:
    single = X.astype(np.float32)
    frame = pl.DataFrame({f"x{i}": single[:, i] for i in range(3)} | {"kind": Y})
    path = tmp_path / "rows.parquet"
    frame.write_parquet(path)
    from_file = clone(ranker).fit_parquet(path, "kind")
    in_memory = clone(ranker).fit(frame.drop("kind"), Y)
    assert from_file.classes_.tolist() == in_memory.classes_.tolist()
    np.testing.assert_allclose(
        from_file.decision_function(frame.drop("kind")),
        in_memory.decision_function(frame.drop("kind")),
        atol=0.02,
    )


@pytest.mark.parametrize("kind", ["sigmoid", "isotonic", None])
def test_calibration_keeps_the_order_of_every_class(kind: str | None) -> None:
    rng = np.random.default_rng(0)
    target = rng.choice(3, 400).astype(float)
    scores = odds_of(2 * rng.normal(size=(400, 3)) + 2 * np.eye(3)[target.astype(int)])
    made = ClassCalibrator.learn(kind, scores, Part(scores, target, None, None, 3))
    decision, shares = made.decision(scores), made.probability(scores)
    np.testing.assert_allclose(shares.sum(1), 1)
    for before, after in zip(scores.T, decision.T, strict=True):
        assert (np.diff(after[np.argsort(before)]) >= 0).all()
    assert log_loss(target, shares) < log_loss(target, np.full_like(shares, 1 / 3))
    if kind is None:
        np.testing.assert_allclose(decision, scores)


def test_batches_have_the_shares_of_the_classes() -> None:
    target = np.repeat([0.0, 1.0, 2.0], [80, 15, 5])
    found = list(even_batches(target, 20, np.random.default_rng(0)))
    assert sorted(np.concatenate(found).tolist()) == list(range(100))
    counts = [np.bincount(target[rows].astype(int), minlength=3) for rows in found]
    for count in counts:
        np.testing.assert_allclose(count, [16, 3, 1], atol=1)


def test_metrics_of_several_classes_and_the_objective_of_hand_and_till() -> None:
    for ranker in (LINEAR, NEURAL):
        fitted = clone(ranker).set_params(objective="mauc", metric="auc(scheme=ovo)").fit(X, Y)
        wanted = roc_auc_score(Y, fitted.predict_proba(X), multi_class="ovo")
        assert fitted.score(X, Y) == pytest.approx(wanted, abs=0.02)


@pytest.mark.parametrize("name", ["auc", "opauc(max_fpr=.3)", "soap", "stable_ap", "focal"])
def test_a_network_takes_any_objective_of_two_classes(name: str) -> None:
    fitted = clone(NEURAL).set_params(objective=name, metric="ap", epochs=12).fit(X, Y)
    assert fitted.score(X, Y) > 0.75


def test_folds_and_rows_that_the_caller_holds_out() -> None:
    fitted = clone(LIGHTGBM).set_params(folds=2).fit(X, Y)
    assert fitted.held_out_ == 200
    assert fitted.score(X, Y) > 0.8
    assert fitted.feature_importances_.sum() == pytest.approx(1)
    held = kinds(60, seed=1)
    fitted = clone(LINEAR).fit(X, Y, validation=held)
    assert fitted.held_out_ == 60
    with pytest.raises(ValueError, match="validation must hold rows of several classes"):
        clone(LINEAR).fit(X, Y, validation=(X[:5], Y[[0] * 5]))
    with pytest.raises(ValueError, match="number of different class 2 rows"):
        clone(LIGHTGBM).set_params(folds=60).fit(X, Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": "f1"}, "threshold 'f1' is for two classes, and y has 3"),
        ({"threshold": 0.3}, "threshold 0.3 is for two classes"),
        ({"metric": "ndcg"}, "one of two classes"),
        ({"objective": "ndcg"}, "Only binary classification.*want groups"),
    ],
)
def test_options_of_two_classes_are_refused(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        clone(LINEAR).set_params(**options).fit(X, Y)


def test_targets_that_are_refused() -> None:
    with pytest.raises(ValueError, match="Only binary classification"):
        clone(LINEAR).fit(X, Y, groups=np.arange(200) % 10)
    with pytest.raises(ValueError, match="Only binary classification"):
        PApAtKRanker().fit(X, Y)
    with pytest.raises(ValueError, match=r"got none of the class.*yak"):
        clone(LINEAR).fit(X, Y, sample_weight=(Y != "yak").astype(float))
    with pytest.raises(ValueError, match="is of more than two classes, and y has two"):
        clone(LINEAR).set_params(objective="mauc").fit(X, Y == "yak")
    with pytest.raises(ValueError, match=r"scheme"):
        clone(LINEAR).set_params(metric="auc(scheme=ovo)").fit(X, Y == "yak")
    with pytest.raises(ValueError, match="not one of one score per row"):
        clone(LIGHTGBM).set_params(objective="mauc").fit(X, Y)
    fitted = clone(LINEAR).fit(X, Y)
    with pytest.raises(ValueError, match="y must hold only the classes"):
        fitted.score(X[:2], ["ape", "cat"])
