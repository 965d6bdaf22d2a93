import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest
import scipy.stats
import torch

from rankwise import metrics as m
from rankwise.metrics import bootstrap

RNG = np.random.default_rng(0)
TARGET = np.arange(120) % 4 == 0
SCORES = RNG.standard_normal(120).round(1) + TARGET


def resampled_by_hand(metric, scores, target, resamples, rng):
    """The stratified bootstrap as one would write it first."""
    values = []
    strata = [np.flatnonzero(target == grade) for grade in np.unique(target)]
    for _ in range(resamples):
        drawn = np.concatenate([rng.choice(stratum, len(stratum)) for stratum in strata])
        values.append(float(metric(scores[drawn], target[drawn])))
    return np.array(values)


@pytest.mark.parametrize("metric", [m.average_precision, m.auroc, m.ndcg, m.r_precision])
def test_same_distribution_as_by_hand(metric):
    grades = TARGET + (RNG.random(120) < 0.1) if metric is m.ndcg else TARGET.astype(int)
    by_hand = resampled_by_hand(metric, SCORES, grades, 1000, np.random.default_rng(1))
    interval = m.bootstrap_interval(metric, SCORES, grades, resamples=4000)
    low, high = np.quantile(by_hand, [0.025, 0.975])
    spread = by_hand.std()
    assert interval.value == float(metric(SCORES, grades))
    # A 2.5 % quantile of 1 000 normal draws has a standard error of about .085 spreads.
    assert interval.low == pytest.approx(low, abs=0.3 * spread)
    assert interval.high == pytest.approx(high, abs=0.3 * spread)


def test_blocks_do_not_change_the_size_and_seeds_repeat(monkeypatch):
    whole = m.bootstrap_interval(m.auroc, SCORES, TARGET, resamples=50, seed=3)
    assert whole == m.bootstrap_interval(m.auroc, SCORES, TARGET, resamples=50, seed=3)
    assert whole != m.bootstrap_interval(m.auroc, SCORES, TARGET, resamples=50, seed=4)
    monkeypatch.setattr(bootstrap, "BLOCK", 120 * 7)
    blocks = m.bootstrap_interval(m.auroc, SCORES, TARGET, resamples=50, seed=3)
    assert blocks.low == pytest.approx(whole.low, abs=0.05)


def test_input_order_and_tensors_do_not_matter():
    mask = np.ones(130, dtype=bool)
    mask[120:] = False
    padded = np.concatenate([SCORES, np.full(10, np.nan)])
    interval = m.bootstrap_interval(
        m.auroc,
        torch.tensor(padded),
        torch.tensor(np.concatenate([TARGET, np.zeros(10, bool)])),
        mask=torch.tensor(mask),
        resamples=200,
    )
    plain = m.bootstrap_interval(m.auroc, SCORES, TARGET, resamples=200)
    assert interval == plain


def test_coverage():
    rng = np.random.default_rng(0)
    true, runs = NormalDist().cdf(1 / math.sqrt(2)), 200
    target = np.arange(150) < 60
    covered = 0
    for run in range(runs):
        scores = rng.standard_normal(150) + target
        interval = m.bootstrap_interval(m.auroc, scores, target, resamples=200, seed=run)
        covered += interval.low <= true <= interval.high
    assert covered / runs == pytest.approx(0.95, abs=3.5 * math.sqrt(0.95 * 0.05 / runs))


def test_several_lists_are_resampled_as_lists():
    target = np.zeros((200, 5), dtype=int)
    target[:, 0] = 1
    scores = np.random.default_rng(0).standard_normal((200, 5))
    values = m.auroc(scores, target, average="none")
    interval = m.bootstrap_interval(m.auroc, scores, target, resamples=4000)
    reach = 1.96 * m.mean_over_lists(values).standard_error
    assert interval.value == pytest.approx(values.mean())
    assert interval.low == pytest.approx(values.mean() - reach, abs=0.1 * reach)
    assert interval.high == pytest.approx(values.mean() + reach, abs=0.1 * reach)
    grouped = m.bootstrap_interval(
        m.auroc, scores.ravel(), target.ravel(), groups=np.repeat(np.arange(200), 5), resamples=4000
    )
    assert (grouped.low, grouped.high) == (interval.low, interval.high)
    pooled = m.bootstrap_interval(m.auroc, scores, target, average="micro", resamples=50)
    assert pooled.value == float(m.auroc(scores, target, average="micro"))


def test_comparison_agrees_with_delong():
    rng = np.random.default_rng(2)
    target = np.arange(600) < 200
    signal = rng.standard_normal(600) + target
    a, b = (signal + 0.5 * rng.standard_normal((2, 600))).round(2)
    ours, delong = m.compare(m.auroc, a, b, target, resamples=2000), m.delong_test(a, b, target)
    assert ours.difference == pytest.approx(delong.difference)
    width = delong.high - delong.low
    assert ours.low == pytest.approx(delong.low, abs=0.1 * width)
    assert ours.high == pytest.approx(delong.high, abs=0.1 * width)
    assert ours.p_value == pytest.approx(delong.p_value, abs=0.08)


def test_comparison_with_itself_and_with_a_better_model():
    same = m.compare(m.average_precision, SCORES, SCORES * 2, TARGET, resamples=100)
    assert (same.difference, same.low, same.high, same.p_value) == (0, 0, 0, 1)
    better = m.compare(m.average_precision, SCORES + 3 * TARGET, SCORES, TARGET, resamples=99)
    assert better.p_value == 2 * (1 + 0) / (1 + 99)
    assert better.low > 0


def test_no_difference_is_seldom_found():
    rng = np.random.default_rng(0)
    target, runs, found = np.arange(150) < 50, 150, 0
    for run in range(runs):
        a, b = rng.standard_normal((2, 150)) + target
        found += m.compare(m.auroc, a, b, target, resamples=200, seed=run).p_value < 0.05
    assert found / runs == pytest.approx(0.05, abs=3.5 * math.sqrt(0.95 * 0.05 / runs))


def test_lists_compared():
    target = np.zeros((50, 5), dtype=int)
    target[:, 0] = 1
    scores = np.random.default_rng(0).standard_normal((50, 5))
    result = m.compare(m.auroc, scores + target, scores, target)
    assert result.p_value < 0.01
    assert result.low < result.difference < result.high


def test_bad_input():
    with pytest.raises(ValueError, match="average must name a mean"):
        m.bootstrap_interval(m.auroc, SCORES, TARGET, average="none")
    with pytest.raises(ValueError, match="resamples must be"):
        m.bootstrap_interval(m.auroc, SCORES, TARGET, resamples=0)
    with pytest.raises(ValueError, match="level must be in"):
        m.bootstrap_interval(m.auroc, SCORES, TARGET, level=0)
    with pytest.warns(RuntimeWarning, match="1 of 1 lists have only one class"):
        assert math.isnan(m.bootstrap_interval(m.auroc, SCORES, TARGET * 0).low)


def test_values_of_the_same_lists_are_compared_by_swapping_them():
    rng = np.random.default_rng(3)
    a, b = rng.random(10), rng.random(10)
    found = m.compare_lists(a, b)
    # All swaps, written out.
    signs = np.array(list(itertools.product([1, -1], repeat=10)))
    expected = (np.abs(signs @ (a - b)) >= abs((a - b).sum()) - 1e-12).mean()
    assert found.p_value == expected
    assert (found.value_a, found.value_b) == pytest.approx((a.mean(), b.mean()))
    assert found.difference == pytest.approx((a - b).mean())
    assert found.low < found.difference < found.high
    # Random swaps come to the same, and never to zero.
    assert m.compare_lists(a, b, resamples=1000).p_value == pytest.approx(expected, abs=0.05)
    sure = m.compare_lists(np.ones(60), np.zeros(60), resamples=200)
    assert sure.p_value == 1 / 201


def test_many_lists_have_the_p_value_of_a_t_test():
    rng = np.random.default_rng(4)
    a = rng.normal(size=400)
    b = a + rng.normal(0.1, 1, size=400)
    found, expected = m.compare_lists(a, b), scipy.stats.ttest_rel(a, b)
    assert found.p_value == pytest.approx(expected.pvalue, abs=0.01)
    reach = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((reach.low, reach.high), abs=0.02)


def test_few_lists_are_never_significant():
    for lists, p in ((1, 1.0), (2, 0.5), (4, 0.125)):
        found = m.compare_lists(np.ones(lists), np.zeros(lists))
        assert found.p_value == p
        assert math.isnan(found.low) == (lists == 1)


def test_lists_without_a_value_are_left_out_and_equal_ones_are_equal():
    a, b = np.array([0.5, np.nan, 0.25, 1]), np.array([0.25, 1, 0.5, np.nan])
    found = m.compare_lists(a, b)
    assert (found.value_a, found.value_b, found.p_value) == (0.375, 0.375, 1)
    assert m.compare_lists(torch.ones(30), torch.ones(30)).p_value == 1
    nothing = m.compare_lists(a[:2], b[2:])
    assert math.isnan(m.compare_lists(a[1:2], b[1:2]).p_value)
    assert nothing.value_a == 0.5
    with pytest.raises(ValueError, match="values_b must have the shape of values_a"):
        m.compare_lists(a, b[:2])
    with pytest.raises(ValueError, match=r"level must be in \(0, 1\)"):
        m.compare_lists(a, b, level=95)
