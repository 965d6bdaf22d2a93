import math
import shutil
from itertools import pairwise, permutations

import ir_measures
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import ERR

from rankwise import metrics as m


def test_err_by_hand(ranked):
    scores, target = ranked(3, 0, 4, 1)
    stops = [7 / 16, 0, 15 / 16, 1 / 16]
    expected = stops[0] + (9 / 16) * stops[2] / 3 + (9 / 16) * (1 / 16) * stops[3] / 4
    assert m.expected_reciprocal_rank(scores, target) == pytest.approx(expected)
    assert m.expected_reciprocal_rank(scores, target, k=2) == pytest.approx(7 / 16)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is written in perl")
@pytest.mark.parametrize("k", [1, 5, 20])
def test_err_is_that_of_gdeval(k):
    rng = np.random.default_rng(k)
    scores = rng.permuted(np.tile(np.arange(30.0), (8, 1)), axis=1)
    target = rng.integers(0, 5, (8, 30)) * (rng.random((8, 30)) < 0.4)
    qrels = {str(q): {f"d{d}": int(y) for d, y in enumerate(row)} for q, row in enumerate(target)}
    run = {str(q): {f"d{d}": float(s) for d, s in enumerate(row)} for q, row in enumerate(scores)}
    theirs = {int(x.query_id): x.value for x in ir_measures.iter_calc([ERR @ k], qrels, run)}
    found = m.expected_reciprocal_rank(scores, target, k=k, average="none")
    # gdeval prints five digits.
    np.testing.assert_allclose(found, [theirs[q] for q in range(8)], atol=6e-6)


def stopped(grades, best, k):
    value, reads = 0.0, 1.0
    for rank, y in enumerate(grades[:k], start=1):
        stop = (2**y - 1) / 2**best
        value, reads = value + reads * stop / rank, reads * (1 - stop)
    return value


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=2, max_size=6).filter(
        lambda items: any(y for _, y in items)
    ),
    st.sampled_from([None, 1, 2, 4]),
)
def test_err_of_tied_grades_is_the_mean_over_all_orders(items, k):
    ordered = [
        stopped([y for _, y in order], 3, k)
        for order in permutations(items)
        if all(a[0] >= b[0] for a, b in pairwise(order))
    ]
    scores, target = (np.array(column, dtype=float) for column in zip(*items, strict=True))
    found = m.expected_reciprocal_rank(scores, target, k=k, max_relevance=3)
    assert found == pytest.approx(np.mean(ordered), abs=1e-12)
    worst = m.expected_reciprocal_rank(scores, target, k=k, max_relevance=3, ties="against")
    assert worst == pytest.approx(min(ordered), abs=1e-12)


def test_err_of_many_tied_items_is_stable():
    target = np.zeros(3000)
    target[:30] = 4
    tied = m.expected_reciprocal_rank(np.zeros(3000), target, k=10)
    rng = np.random.default_rng(0)
    orders = rng.permuted(np.tile(target, (4000, 1)), axis=1)
    simulated = m.expected_reciprocal_rank(
        np.tile(np.arange(3000.0, 0, -1), (4000, 1)), orders, k=10
    )
    assert tied == pytest.approx(simulated, abs=0.01)
    stop = 15 / 16
    # Ten ranks, each reached with hardly a stop before: about 1 % of them hold a relevant item.
    bound = 0.01 * stop * sum(1 / r for r in range(1, 11))
    assert 0.95 * bound < tied < bound


def test_err_needs_the_scale_of_the_relevances():
    with pytest.raises(ValueError, match=r"at most max_relevance=4 .* got 5; pass the largest"):
        m.expected_reciprocal_rank(np.array([1.0, 2.0]), np.array([5, 0]))
    with pytest.raises(ValueError, match="max_relevance must be"):
        m.expected_reciprocal_rank(np.array([1.0, 2.0]), np.array([1, 0]), max_relevance=0)


def test_rbp_by_hand(ranked):
    scores, target = ranked(1, 0, 1, 0)
    assert m.rank_biased_precision(scores, target, p=0.9) == pytest.approx(0.1 * (1 + 0.81))
    assert m.rank_biased_precision(scores, target, p=0.9, k=2) == pytest.approx(0.1)


def test_rbp_of_half_an_item_shares_its_rank():
    scores, target = np.array([3.0, 2, 1]), np.array([1, 0, 1])
    weight = np.array([0.5, 1, 1])
    # Half of rank 1 is relevant, then half of rank 1 and half of rank 2 are not, …
    expected = 0.5 * (0.5 * 1 + 0.5 * 0.5 + 0.5 * 0.25)
    found = m.rank_biased_precision(scores, target, p=0.5, weight=weight)
    assert found == pytest.approx(expected)


def test_rbp_of_a_long_list_has_the_interval_of_its_first_ranks():
    rng = np.random.default_rng(0)
    y = rng.random(30_000) < 0.3
    scores = rng.normal(size=30_000) + 2 * y
    (found,) = m.confidence_intervals([m.Metric(m.rank_biased_precision)], scores, y)
    assert found.method == "bootstrap"
    assert found.value == pytest.approx(m.rank_biased_precision(scores, y))
    assert found.low <= found.value <= found.high


@pytest.mark.parametrize("p", [0, 1, -0.1, 1.5])
def test_rbp_reads_on_with_a_chance(p):
    with pytest.raises(ValueError, match=r"p must be the chance to read on, in \(0, 1\)"):
        m.rank_biased_precision(np.array([1.0, 2.0]), np.array([1, 0]), p=p)


def read_until(ranked, wanted, length=200_000):
    """INST by its recursion over a list with nothing relevant behind its end."""
    gain = np.zeros(length)
    gain[: len(ranked)] = ranked
    left = wanted - gain.cumsum()
    rank = np.arange(1, length + 1)
    go_on = ((rank + wanted + left - 1) / (rank + wanted + left)) ** 2
    weight = np.append(1, go_on.cumprod()[:-1])
    return (weight * gain).sum() / weight.sum()


@pytest.mark.parametrize("wanted", [1, 2.5, 10])
def test_inst_is_its_recursion_over_an_endless_list(wanted):
    rng = np.random.default_rng(0)
    for length in (2, 5, 40):
        target = rng.integers(0, 2, length)
        target[:2] = [0, 1]
        found = m.inst(-np.arange(float(length)), target, wanted=wanted)
        # What the sum of 200 000 ranks leaves out is about (wanted + ranks)²/200 000.
        assert found == pytest.approx(read_until(target, wanted), rel=1e-2)
    longer = [read_until([0, 1, 1], wanted, n) for n in (10_000, 1_000_000)]
    exact = m.inst(np.array([3.0, 2, 1]), np.array([0, 1, 1]), wanted=wanted)
    assert abs(exact - longer[1]) < abs(exact - longer[0]) / 50


def test_inst_of_one_relevant_item_at_the_top():
    """The weights are 1/i² then, whose sum is π²/6."""
    assert m.inst(np.array([2.0, 1.0]), np.array([1, 0])) == pytest.approx(6 / math.pi**2)


def test_inst_of_tied_items_gives_each_rank_their_mean():
    found = m.inst(np.zeros(4), np.array([1, 0, 0, 1]), wanted=3)
    assert found == pytest.approx(read_until([0.5] * 4, 3), rel=1e-3)
    strict = m.inst(np.zeros(4), np.array([1, 0, 0, 1]), wanted=3, ties="against")
    assert strict == pytest.approx(read_until([0, 0, 1, 1], 3), rel=1e-3)


def test_inst_wants_at_least_one():
    with pytest.raises(ValueError, match="wanted must be the number of relevant items"):
        m.inst(np.array([1.0, 2.0]), np.array([1, 0]), wanted=0.5)


def test_what_works_by_rank_is_not_of_bounded_memory():
    with pytest.raises(ValueError, match="two classes, got inst, which needs the items"):
        m.Metric(m.inst, memory="bounded")
    bounded = m.Metric(m.rank_biased_precision, memory="bounded")
    scores, target = torch.arange(20.0), torch.arange(20) % 3 == 0
    bounded.update(scores, target)
    low, high = bounded.bounds()
    assert low <= m.rank_biased_precision(scores, target) <= high
