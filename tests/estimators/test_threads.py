from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info

from rankwise.estimators import BoostedRanker, LinearRanker, NeuralRanker, threads
from rankwise.estimators.data import Part, Training
from rankwise.estimators.threads import LARGE, threads_for


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
    assert threads._inside == 0
    assert threads._before == 3


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
    monkeypatch.setattr(threads, "LARGE", 1)
    with pytest.raises(Stop):
        made.fit(rows, y)
    assert seen == [1, 3]


def test_the_work_of_a_step() -> None:
    part = Part(np.zeros((1000, 50)), np.zeros(1000))
    data = Training(part, part, 0.1, 0, lambda scores, rows: 0.0)
    assert LinearRanker()._work(data) == 50_000
    # A batch goes through 50 · 10 + 10 · 5 + 5 · 1 weights, however many rows there are.
    assert NeuralRanker(hidden=(10, 5), batch_size=64)._work(data) == 64 * 555
