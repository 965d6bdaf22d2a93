from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest

from rankwise.boosting import lightgbm_objective
from rankwise.boosting.engines import engine_of
from rankwise.boosting.gradient import ObjectiveGradient
from rankwise.boosting.merging import LONG
from rankwise.boosting.noise import NoisyGradient
from rankwise.boosting.objectives import gradient_of, stateless_objective
from rankwise.boosting.rows import Rows

from .cases import ranked
from .engines.grown import grown as grown_engine
from .engines.grown import table


def lists(seed: int = 0) -> tuple[np.ndarray, Rows]:
    """Three lists of graded relevances, each with several of them."""
    rng = np.random.default_rng(seed)
    groups = np.repeat([0, 1, 2], [4, 6, 5])
    target = np.array([0.0, 1, 2, 0, 3, 0, 1, 1, 0, 2, 0, 0, 1, 4, 0])
    return rng.normal(size=15), Rows(target, None, groups)


def expectation(name: str, scores, rows, noise: float, draws: int) -> np.ndarray:
    """The mean of plain gradients at scores with Gumbel noise by inversion, one call a draw."""
    plain = ObjectiveGradient(stateless_objective(name))
    uniform = np.random.default_rng(123).random((draws, len(scores)))
    every = scores - noise * np.log(-np.log(uniform))
    return np.mean([plain.derivatives(noisy, rows)[0] for noisy in every], axis=0)


@pytest.mark.parametrize("name", ["ndcg", "ndcg@3", "ap"])
def test_no_noise_is_the_plain_gradient(name) -> None:
    scores, rows = ranked() if name == "ap" else lists()
    assert type(gradient_of(name, noise=0.0, samples=7)) is ObjectiveGradient
    objective = stateless_objective(name)
    found = NoisyGradient(objective, noise=0.0, samples=3)(scores, rows)
    for own, plain in zip(found, ObjectiveGradient(objective)(scores, rows), strict=True):
        np.testing.assert_allclose(own, plain, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("name", ["ndcg", "ndcg@3"])
def test_the_mean_over_draws_is_the_expectation(name) -> None:
    scores, rows = lists()
    many = gradient_of(name, noise=0.7, samples=6000).derivatives(scores, rows)[0]
    wanted = expectation(name, scores, rows, 0.7, 1500)
    plain = gradient_of(name).derivatives(scores, rows)[0]
    error, change = np.abs(many - wanted).max(), np.abs(plain - wanted).max()
    assert error < 0.1 * np.abs(wanted).max()
    assert change > 2 * error  # it is not the plain gradient that is near


def test_the_mean_over_draws_of_two_classes() -> None:
    scores, rows = ranked(20)
    many = gradient_of("ap", noise=0.5, samples=4000).derivatives(scores, rows)[0]
    wanted = expectation("ap", scores, rows, 0.5, 1500)
    np.testing.assert_allclose(many, wanted, atol=0.1 * np.abs(wanted).max())


def test_draws_in_one_batch_are_those_one_by_one() -> None:
    scores, rows = lists()
    three = NoisyGradient(stateless_objective("ndcg@3"), noise=1.0, samples=3, seed=5)
    found = three.derivatives(scores, rows)[0]
    noise = np.random.default_rng((5, 0)).gumbel(size=(3, len(scores)))
    plain = gradient_of("ndcg@3")
    each = [plain.derivatives(scores + draw, rows)[0] for draw in noise]
    np.testing.assert_allclose(found, np.mean(each, axis=0), rtol=1e-5, atol=1e-10)


def test_weights_count_in_every_draw() -> None:
    scores, rows = lists()
    weight = np.where(np.arange(15) % 4 == 1, 2.0, 1.0)
    weighted = Rows(rows.target, weight, rows.groups)
    found = NoisyGradient(stateless_objective("ndcg"), noise=1.0, samples=2).derivatives(
        scores, weighted
    )[0]
    noise = np.random.default_rng((0, 0)).gumbel(size=(2, 15))
    plain = gradient_of("ndcg")
    each = [plain.derivatives(scores + draw, weighted)[0] for draw in noise]
    np.testing.assert_allclose(found, np.mean(each, axis=0), rtol=1e-5, atol=1e-10)


def test_rounds_differ_and_repeat() -> None:
    scores, rows = lists()
    gradient = gradient_of("ndcg@3", noise=1.0, samples=2, seed=3)
    first, again, second = (
        gradient(scores, Rows(rows.target, None, rows.groups, round=number))[0]
        for number in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, second)
    other = gradient_of("ndcg@3", noise=1.0, samples=2, seed=4)(scores, rows)[0]
    assert not np.allclose(first, other)


def test_a_long_list_of_two_classes_is_still_merged() -> None:
    n = LONG + 10
    rng = np.random.default_rng(0)
    target = (rng.random(n) < 0.05).astype(float)
    scores = rng.normal(size=n) + target
    slope, bend = gradient_of("ap", noise=0.1, samples=2)(scores, Rows(target))
    assert slope[target > 0].mean() < 0 < slope[target == 0].mean()
    assert (bend > 0).all()


def grown(rounds: int, objective):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(120, 3))
    y = np.clip(np.round(x[:, 0] + rng.normal(size=120)), 0, 3)
    params = {"objective": objective, "num_threads": 1, "verbosity": -1, "num_leaves": 4}
    params["deterministic"] = True
    data = lgb.Dataset(x, y, group=[12] * 10, free_raw_data=False)
    return lgb.train(params, data, rounds).predict(x, raw_score=True)


def test_a_training_with_noise_is_repeatable() -> None:
    one, same, other = (
        grown(6, lightgbm_objective("ndcg@5", noise=1.0, seed=seed)) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    assert not np.array_equal(one, grown(6, lightgbm_objective("ndcg@5")))


@pytest.mark.parametrize("kind", ["lightgbm", "xgboost"])
def test_trees_grown_after_a_stop_are_those_without_it(kind) -> None:
    train = table(150)
    train = Rows(train.target, None, np.arange(150) // 15, train.X)

    def noisy():
        return gradient_of("ndcg@5", noise=1.0, samples=2, seed=3)

    whole, stopped = (grown_engine(engine_of(kind), 0, train=train) for _ in range(2))
    gradient = noisy()
    gradient(np.zeros(150), train)  # a call that grows no tree takes nothing from the next
    for _ in range(6):
        whole.grow(gradient)
    for gradient in (noisy(), noisy()):  # the second one knows the round by the trees alone
        for _ in range(3):
            stopped.grow(gradient)
    assert stopped.text() == whole.text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": -1.0}, r"noise must be a finite number >= 0, got -1\.0"),
        ({"noise": float("nan")}, "noise must be a finite number"),
        ({"noise": 1.0, "samples": 0}, "samples must be"),
    ],
)
def test_noise_and_samples_are_checked(options, message) -> None:
    with pytest.raises(ValueError, match=message):
        lightgbm_objective("ndcg", **options)
