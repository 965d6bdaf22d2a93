"""Thresholds of estimators by rule, with and without a confidence."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.estimators import LinearRanker, Ranker
from rankwise.metrics import OperatingPoint


def table(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < 0.15
    return rng.normal(size=(rows, 3)) + np.outer(y, [2.0, 1.0, 0.0]), y.astype(int)


X, Y = table(4_000)


def fitted(threshold: str | float, **options) -> LinearRanker:
    return LinearRanker("log_loss", threshold=threshold, random_state=0, **options).fit(X, Y)


@pytest.mark.parametrize("rule", ["recall>=0.9", "precision>=0.7", "fpr<=0.02", "alerts<=5/100"])
def test_the_point_is_on_the_rows_held_out(rule: str) -> None:
    model = fitted(rule)
    point = model.operating_point_
    assert isinstance(point, OperatingPoint)
    assert point.threshold == model.threshold_
    assert point.positives + point.negatives == model.held_out_
    kind, _, number = rule.partition("<=" if "<=" in rule else ">=")
    rate = {"recall": point.recall, "precision": point.precision, "fpr": point.fpr}.get(
        kind, point.alert_rate
    )
    limit = 0.05 if kind == "alerts" else float(number)
    assert rate.value >= limit if ">" in rule else rate.value <= limit


@pytest.mark.parametrize("threshold", [0.5, "top=10"])
def test_no_rows_choose_a_probability_or_the_top(threshold: str | float) -> None:
    assert fitted(threshold).operating_point_ is None


def test_a_confidence_has_rows_of_its_own() -> None:
    model = fitted("precision>=0.7@95%")
    point = model.operating_point_
    assert point is not None
    assert point.supported
    # A fifth is set aside, a fifth of the rest is held out.
    assert point.positives + point.negatives == pytest.approx(800, abs=5)
    assert model.held_out_ == pytest.approx(640, abs=5)
    assert model.threshold_ > fitted("precision>=0.7").threshold_
    new_rows, new_classes = table(20_000, seed=1)
    flagged = model.predict(new_rows) == 1
    assert new_classes[flagged].mean() >= 0.7


def test_what_the_rows_do_not_support_is_a_warning() -> None:
    with pytest.warns(UserWarning, match=r"needs at least 29956 negatives.*only rows above all"):
        model = fitted("fpr<=0.0001@95%")
    assert (model.predict(X) == 1).sum() <= 3
    with pytest.warns(UserWarning, match=r"needs at least 598 positives, got.*every row"):
        model = fitted("recall>=0.995@95%")
    assert (model.predict(X) == 1).mean() > 0.99


def test_a_confidence_refuses_weights_and_lists() -> None:
    ranker = LinearRanker("log_loss", threshold="recall>=0.9@95%")
    with pytest.raises(ValueError, match="leave out the confidence or sample_weight"):
        ranker.fit(X, Y, sample_weight=np.where(Y, 2.0, 1.0))
    with pytest.raises(ValueError, match="leave out the confidence or groups"):
        ranker.fit(X, Y, groups=np.arange(len(Y)) // 20)
    with pytest.raises(ValueError, match="must have at least two different rows"):
        ranker.fit(X[:6], [1, 0, 0, 0, 0, 0])


def test_alerts_of_a_day_ask_for_rows() -> None:
    with pytest.raises(ValueError, match=r"'alerts<=20/10000' for that number in 10 000 rows"):
        LinearRanker(threshold="alerts<=20/day").fit(X, Y)


def test_a_saved_model_keeps_its_point(tmp_path) -> None:
    for rule in ("recall>=0.9", 0.5):
        model = fitted(rule)
        again = Ranker.load(model.save(tmp_path / "model.rank"))
        assert again.operating_point_ == model.operating_point_
