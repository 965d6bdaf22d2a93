from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from rankwise.estimators._decisions import calibrate, platt
from rankwise.serving.calibration import Calibrator


def _sample(n: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=n) * 3 + 20
    return scores, rng.random(n) < expit(0.7 * (scores - 22))


def test_platt_finds_the_curve_the_data_came_from() -> None:
    scores, positive = _sample(40_000)
    slope, intercept = platt(scores, positive, np.ones(len(scores)))
    assert slope == pytest.approx(0.7, abs=0.03)
    assert -intercept / slope == pytest.approx(22, abs=0.1)


def test_platt_is_logistic_regression_but_for_its_targets() -> None:
    scores, positive = _sample()
    model = LogisticRegression(C=1e10, tol=1e-8).fit((scores - 20)[:, None], positive)
    slope, _ = platt(scores, positive, np.ones(len(scores)))
    assert slope == pytest.approx(model.coef_[0, 0], rel=0.01)


def test_repeated_rows_are_rows_with_weights_to_the_last_digits() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        scores = rng.normal(size=60) * rng.choice([1e-3, 1.0, 1e3])
        positive = rng.random(60) < expit(rng.choice([-1, 0, 3]) * scores)
        times = rng.integers(1, 5, size=60)
        once = platt(scores, positive, times.astype(float))
        again = platt(scores.repeat(times), positive.repeat(times), np.ones(times.sum()))
        np.testing.assert_allclose(once, again, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("slope", [0.0, 1e-4])
def test_a_slope_at_its_bound_stays_there(slope: float) -> None:
    scores, positive = _sample()
    found, intercept = platt(-slope * scores + np.arange(4000) % 7, positive, np.ones(4000))
    assert found > 0
    chance = expit(found * (-slope * scores + np.arange(4000) % 7) + intercept)
    assert chance.mean() == pytest.approx(positive.mean(), abs=1e-3)


@pytest.mark.parametrize("kind", ["sigmoid", "isotonic"])
def test_probabilities_are_right_on_average_and_rank_as_the_scores(kind: str) -> None:
    scores, positive = _sample()
    found = calibrate(kind, scores, positive, None).probability(np.sort(scores))
    assert found.mean() == pytest.approx(positive.mean(), abs=0.005)
    assert (np.diff(found) > 0).all()
    assert found.min() >= 0
    assert found.max() <= 1


def test_isotonic_follows_what_a_sigmoid_cannot() -> None:
    rng = np.random.default_rng(1)
    scores = rng.random(20_000)
    truth = np.where(scores < 0.5, 0.1, 0.4)
    positive = rng.random(len(scores)) < truth
    found = calibrate("isotonic", scores, positive, None).probability(scores)
    assert np.abs(found - truth).mean() < 0.01


@pytest.mark.parametrize("kind", ["sigmoid", "isotonic"])
def test_a_weight_is_that_many_rows(kind: str) -> None:
    scores, positive = _sample(200)
    weight = np.random.default_rng(2).integers(1, 4, 200)
    once = calibrate(kind, scores, positive, weight.astype(float))
    many = calibrate(kind, np.repeat(scores, weight), np.repeat(positive, weight), None)
    np.testing.assert_allclose(once.probability(scores), many.probability(scores), rtol=1e-9)


@pytest.mark.parametrize("kind", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("positive", [[False] * 4, [True] * 4, [True, True, False, False]])
def test_one_class_and_backwards_models_stay_increasing(kind: str, positive: list[bool]) -> None:
    scores = np.array([1.0, 2.0, 3.0, 4.0])
    found = calibrate(kind, scores, np.array(positive), None).probability(scores)
    assert (np.diff(found) > 0).all()
    assert ((found > 0) & (found < 1)).all()


@pytest.mark.parametrize("kind", ["sigmoid", "isotonic"])
def test_separated_and_constant_scores(kind: str) -> None:
    apart = calibrate(kind, np.array([-1e4, 1e4]), np.array([False, True]), None)
    low, high = apart.probability(np.array([-1e4, 1e4]))
    assert low < 0.5 < high
    constant = calibrate(kind, np.zeros(4), np.array([True, False, False, False]), None)
    # Platt's targets: (2/3 + 3 · 1/5)/4 for the sigmoid, which is a thousandth of the other.
    wanted = {"sigmoid": (2 / 3 + 3 / 5) / 4, "isotonic": 0.25}[kind]
    assert constant.probability(np.zeros(1))[0] == pytest.approx(wanted, abs=1e-3)


@pytest.mark.parametrize("kind", ["sigmoid", "isotonic", None])
@pytest.mark.parametrize("wanted", [0.01, 0.3, 0.5, 0.9])
def test_the_score_of_a_probability(kind: str | None, wanted: float) -> None:
    scores, positive = _sample()
    calibrator = calibrate(kind, scores, positive, None)
    at = calibrator.score(wanted)
    around = calibrator.probability(np.array([at - 1e-6, at + 1e-6]))
    assert around[0] <= wanted <= around[1]


def test_a_probability_that_no_score_has_is_far_away() -> None:
    calibrator = Calibrator(1.0, 0.0, 1e-3, np.array([0.0, 1.0]), np.array([0.2, 0.3]))
    assert calibrator.score(0.9) > 1
    assert calibrator.score(0.1) < 0


def test_none_is_the_logistic_function() -> None:
    scores = np.array([-1.0, 0.0, 2.0])
    np.testing.assert_array_equal(
        calibrate(None, scores, scores > 0, None).probability(scores), expit(scores)
    )
