from __future__ import annotations

import time

import numpy as np
import pytest
from tests.estimators.generated import Rows

from rankwise.estimators import BoostedRanker, LinearRanker, NeuralRanker
from rankwise.estimators.time_limit import part_of_time, time_is_up, time_limit

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
