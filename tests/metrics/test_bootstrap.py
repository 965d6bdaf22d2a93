import math
from statistics import NormalDist

import numpy as np
import pytest
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
