from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
import torch
from tests.estimators.generated import Rows
from threadpoolctl import threadpool_info

from rankwise.estimators import BoostedRanker, LinearRanker, NeuralRanker, limits
from rankwise.estimators.data import Part, Training
from rankwise.estimators.limits import LARGE, part_of_time, threads_for, time_is_up, time_limit

RANKERS = [LinearRanker, BoostedRanker, NeuralRanker]
KINDS = pytest.mark.parametrize("kind", RANKERS, ids=lambda each: each.__name__)
OBJECTIVES = pytest.mark.parametrize("objective", ["log_loss", "ap"])


def length(ranker) -> int:
    return ranker.n_trees_ if isinstance(ranker, BoostedRanker) else ranker.n_iter_


def test_without_a_limit_the_time_is_never_up() -> None:
    assert not time_is_up()
    with part_of_time(2):
        assert not time_is_up()


def test_a_limit_says_whether_something_was_ended_by_it() -> None:
    with time_limit(1e6) as limit:
        assert not time_is_up()
    assert not limit.reached
    with time_limit(0.0) as limit:
        assert not limit.reached  # nobody has asked
        assert time_is_up()
    assert limit.reached
    assert not time_is_up()


def test_a_limit_inside_another_never_ends_later() -> None:
    with time_limit(0.0) as outer, time_limit(1e6) as inner:
        assert time_is_up()
    assert inner.reached
    assert outer.reached


def test_parts_of_the_time_are_equal_and_what_one_leaves_is_the_next_ones() -> None:
    with time_limit(100.0) as limit:
        now = time.perf_counter()
        with part_of_time(4), time_limit(1e6) as first:
            assert first.ends - now == pytest.approx(25, abs=1)
        with part_of_time(1), time_limit(1e6) as last:
            assert last.ends == pytest.approx(limit.ends)


@KINDS
@OBJECTIVES
def test_a_fit_without_time_takes_a_step_of_each_stage_and_can_be_used(
    kind, objective, rows: Rows
) -> None:
    X, y = rows
    whole = kind(objective, random_state=0).fit(X, y)
    with time_limit(0.0) as limit:
        short = kind(objective, random_state=0).fit(X, y)
    assert limit.reached
    assert 1 <= length(short) <= 2 < length(whole)
    assert np.isfinite(short.decision_function(X)).all()


@KINDS
@OBJECTIVES
def test_a_limit_that_is_not_reached_changes_nothing(kind, objective, rows: Rows) -> None:
    X, y = rows
    whole = kind(objective, random_state=0).fit(X, y)
    with time_limit(1e6) as limit:
        again = kind(objective, random_state=0).fit(X, y)
    assert not limit.reached
    np.testing.assert_array_equal(again.decision_function(X), whole.decision_function(X))


def test_a_network_that_was_cut_short_is_trained_on_the_metric_too(rows: Rows) -> None:
    X, y = rows
    with time_limit(0.0):
        cut = NeuralRanker("ap", random_state=0).fit(X, y)
        plain = NeuralRanker("log_loss", random_state=0).fit(X, y)
    assert len(cut.history_) == 2  # a step of cross-entropy, and one of the metric
    assert len(plain.history_) == 1


@pytest.fixture
def three():
    """Three threads, whatever the tests were started with."""
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


pytestmark = pytest.mark.usefixtures("three")


def _of_numpy() -> set[int]:
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_small_work_has_one_thread_and_large_work_all() -> None:
    before = _of_numpy()
    with threads_for(LARGE - 1):
        assert torch.get_num_threads() == 1
        assert _of_numpy() == {1}
    assert torch.get_num_threads() == 3
    assert _of_numpy() == before
    with threads_for(LARGE):
        assert torch.get_num_threads() == 3


def test_they_are_given_back_after_an_error_and_one_inside_another() -> None:
    def stopped() -> None:
        with threads_for(1):
            with threads_for(1):
                pass
            assert torch.get_num_threads() == 1
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert torch.get_num_threads() == 3


def test_fits_beside_each_other_give_them_back_once() -> None:
    both_in, one_out = Barrier(2), Barrier(2)

    def first() -> None:
        with threads_for(1):
            both_in.wait()
        one_out.wait()

    def second() -> None:
        with threads_for(1):
            both_in.wait()
            one_out.wait()  # ends after the first

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(first), pool.submit(second)]:
            done.result(timeout=10)
    assert limits._inside == 0
    assert limits._before == 3


@pytest.mark.parametrize("made", [LinearRanker(), NeuralRanker(), BoostedRanker()])
def test_a_fit_has_the_threads_that_its_work_is_worth(made, monkeypatch) -> None:
    seen = []

    class Stop(Exception):  # noqa: N818
        pass

    def fit(self, data):
        seen.append(torch.get_num_threads())
        raise Stop

    monkeypatch.setattr(type(made), "_fit_scores", fit)
    rows, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 4 == 0
    with pytest.raises(Stop):
        made.fit(rows, y)
    monkeypatch.setattr(limits, "LARGE", 1)
    with pytest.raises(Stop):
        made.fit(rows, y)
    assert seen == [1, 3]


def test_the_work_of_a_step() -> None:
    part = Part(np.zeros((1000, 50)), np.zeros(1000))
    data = Training(part, part, 0.1, 0, lambda scores, rows: 0.0)
    assert LinearRanker()._work(data) == 50_000
    # A batch goes through 50 · 10 + 10 · 5 + 5 · 1 weights, however many rows there are.
    assert NeuralRanker(hidden=(10, 5), batch_size=64)._work(data) == 64 * 555
