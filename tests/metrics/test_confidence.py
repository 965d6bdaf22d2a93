"""Intervals of long lists against the bootstrap of every item, and by their coverage."""

import math
from statistics import NormalDist

import numpy as np
import pytest
import torch

from rankwise import metrics as m
from rankwise.metrics import _cells, confidence

N = 4_000
RNG = np.random.default_rng(0)
TARGET = (RNG.random(N) < 0.3).astype(np.int64)
SCORES = RNG.standard_normal(N) + TARGET
WEIGHT = RNG.integers(1, 4, N)
CURVES = [
    m.Metric(m.average_precision),
    m.Metric(m.auprc, prior=0.05),
    m.Metric(m.auroc),
    m.Metric(m.auroc, ties="against"),
    m.Metric(m.partial_auroc, max_fpr=0.1),
    m.Metric(m.partial_auroc, min_fpr=0.05, max_fpr=0.4),
    m.Metric(m.partial_auroc, max_fpr=0.2, standardized=True),
    m.Metric(m.two_way_partial_auroc, min_tpr=0.5, max_fpr=0.5),
    m.Metric(m.r_precision),
    m.Metric(m.map_at_r),
]
TOPS = [
    *(m.Metric(metric, k=k) for metric in (m.precision_at_k, m.recall_at_k) for k in (10, 300)),
    m.Metric(m.hit_at_k, k=1),
    m.Metric(m.pap_at_k, k=20),
    m.Metric(m.mean_reciprocal_rank),
]


@pytest.fixture(autouse=True)
def long_from_a_thousand(monkeypatch):
    monkeypatch.setattr(confidence, "SMALL", 1000)
    monkeypatch.setattr(_cells, "NARROW", 500)


def drawn(metric, scores, target, **data):
    """The same interval by resampling every item."""
    return m.bootstrap_interval(metric.metric, scores, target, **data, **metric.options)


@pytest.mark.parametrize("decimals", [9, 1], ids=["distinct", "tied"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_influence_is_as_wide_as_the_bootstrap(decimals, weight, monkeypatch):
    monkeypatch.setattr(confidence, "WORK", 0)
    scores = SCORES.round(decimals)
    found = m.confidence_intervals(CURVES, scores, TARGET, weight=weight)
    for metric, interval in zip(CURVES, found, strict=True):
        expected = drawn(metric, scores, TARGET, weight=weight)
        assert interval.method == "influence"
        assert interval.value == pytest.approx(expected.value, abs=1e-12)
        # A width of 1 000 draws has a standard error of about 4 %.
        width = expected.high - expected.low
        assert interval.high - interval.low == pytest.approx(width, rel=0.15), metric
        assert interval.low == pytest.approx(expected.low, abs=0.15 * width), metric


@pytest.mark.parametrize(
    ("weight", "metrics"),
    [(None, TOPS), (WEIGHT, TOPS), (WEIGHT**1.5, TOPS[:4])],
    ids=["plain", "counts", "masses"],
)
@pytest.mark.parametrize("decimals", [9, 1], ids=["distinct", "tied"])
def test_first_ranks_are_drawn_alone_with_the_same_distribution(weight, metrics, decimals):
    scores = SCORES.round(decimals)
    found = m.confidence_intervals(metrics, scores, TARGET, weight=weight, resamples=800)
    for metric, interval in zip(metrics, found, strict=True):
        expected = drawn(metric, scores, TARGET, weight=weight)
        assert interval.method == "bootstrap"
        assert interval.value == pytest.approx(expected.value, abs=1e-12)
        reach = max(0.35 * (expected.high - expected.low), 1e-9)
        assert interval.low == pytest.approx(expected.low, abs=reach), metric
        assert interval.high == pytest.approx(expected.high, abs=reach), metric


def test_draws_come_in_blocks_and_are_as_many_as_asked(monkeypatch):
    monkeypatch.setattr(_cells, "BLOCK", 2 * 4)
    ones = torch.ones(2, dtype=torch.float64)
    cells = _cells.Cells(torch.tensor([0, 1]), torch.tensor([1.0, 0.0]), 3 * ones, ones)
    assert [len(rows) for rows in cells.draws(10, np.random.default_rng(0))] == [4, 4, 2]


def test_few_positives_are_drawn_as_runs():
    target = (np.arange(N) % 40 == 0).astype(np.int64)
    scores = RNG.standard_normal(N) + 2 * target
    found = m.confidence_intervals(CURVES, scores, target)
    for metric, interval in zip(CURVES, found, strict=True):
        expected = drawn(metric, scores, target)
        width = expected.high - expected.low
        assert interval.method == "bootstrap"
        assert interval.value == pytest.approx(expected.value, abs=1e-12)
        assert interval.low == pytest.approx(expected.low, abs=0.2 * width), metric
        assert interval.high == pytest.approx(expected.high, abs=0.2 * width), metric


def test_influence_of_the_auroc_is_delongs(monkeypatch):
    monkeypatch.setattr(confidence, "WORK", 0)
    (found,) = m.confidence_intervals([m.Metric(m.auroc)], SCORES, TARGET, level=0.9)
    expected = m.delong_interval(SCORES, TARGET, level=0.9)
    assert found.value == pytest.approx(expected.value, abs=1e-12)
    width = expected.high - expected.low
    assert found.low == pytest.approx(expected.low, abs=2e-3 * width)
    assert found.high == pytest.approx(expected.high, abs=2e-3 * width)


def test_coverage_of_average_precision_and_auroc(monkeypatch):
    monkeypatch.setattr(confidence, "WORK", 0)
    rng = np.random.default_rng(0)
    runs, n = 300, 2_000
    target = np.arange(n) < n // 5
    # AP of the two normal distributions: mean over positives of the precision at their score.
    grid = np.linspace(-6, 8, 200_001)
    cdf = np.vectorize(NormalDist().cdf)
    tpr, fpr = 1 - cdf(grid[::50] - 1), 1 - cdf(grid[::50])
    precision = tpr / (tpr + 4 * fpr)
    true_ap = float((precision[1:] * -np.diff(tpr)).sum())
    true = {0: true_ap, 1: NormalDist().cdf(1 / math.sqrt(2))}
    covered = [0, 0]
    both = [m.Metric(m.average_precision), m.Metric(m.auroc)]
    for _ in range(runs):
        found = m.confidence_intervals(both, rng.standard_normal(n) + target, target)
        for place, interval in enumerate(found):
            covered[place] += interval.low <= true[place] <= interval.high
    for count in covered:
        assert count / runs == pytest.approx(0.95, abs=3.5 * math.sqrt(0.95 * 0.05 / runs))


def test_short_lists_graded_targets_and_lists_as_before():
    metric = m.Metric(m.partial_auroc, max_fpr=0.2)
    scores, target = SCORES[:500], TARGET[:500]
    assert m.confidence_intervals([metric], scores, target) == [drawn(metric, scores, target)]
    gain = m.Metric(m.ndcg, k=10)
    short = m.confidence_intervals([gain, metric], scores, target, resamples=50)
    assert short[0] == m.bootstrap_interval(m.ndcg, scores, target, k=10, resamples=50)
    groups = np.arange(500) // 50
    lists = m.confidence_intervals([gain], scores, target, groups=groups)
    assert lists == [drawn(gain, scores, target, groups=groups)]


def test_many_lists_have_the_normal_interval_of_their_mean(monkeypatch):
    monkeypatch.setattr(confidence, "WORK", 1000)
    groups = np.arange(N) // 40
    (found,) = m.confidence_intervals([m.Metric(m.auroc)], SCORES, TARGET, groups=groups)
    values = m.auroc(SCORES, TARGET, groups=groups, average="none")
    mean = m.mean_over_lists(values)
    assert found.method == "influence"
    assert found.value == pytest.approx(mean.mean)
    assert found.high - found.value == pytest.approx(1.959964 * mean.standard_error, rel=1e-6)


def test_masks_tensors_and_pooled_lists():
    mask = RNG.random(N) < 0.9
    scores = np.where(mask, SCORES, np.nan)
    both = [m.Metric(m.auroc), m.Metric(m.precision_at_k, k=50)]
    expected = m.confidence_intervals(both, SCORES[mask], TARGET[mask])
    found = m.confidence_intervals(
        both, torch.tensor(scores), torch.tensor(TARGET), mask=torch.tensor(mask)
    )
    assert [each.value for each in found] == pytest.approx([each.value for each in expected])
    assert found[0].low == pytest.approx(expected[0].low, abs=2e-3)
    pooled = m.Metric(m.auroc, average="micro")
    rows = m.confidence_intervals([pooled], SCORES.reshape(10, -1), TARGET.reshape(10, -1))
    assert rows == m.confidence_intervals([m.Metric(m.auroc)], SCORES, TARGET)


def test_bad_input_and_one_class():
    metric = [m.Metric(m.auroc)]
    with pytest.raises(ValueError, match="scores contains NaN"):
        m.confidence_intervals(metric, np.full(N, np.nan), TARGET)
    with pytest.raises(ValueError, match="target must contain only 0 and 1"):
        m.confidence_intervals(metric, SCORES, TARGET * 2)
    with pytest.raises(ValueError, match="level must be in"):
        m.confidence_intervals(metric, SCORES, TARGET, level=95)
    rows = SCORES.reshape(10, -1), TARGET.reshape(10, -1)
    with pytest.raises(ValueError, match="average must name a mean"):
        m.confidence_intervals([m.Metric(m.auroc, average="none")], *rows)
    with pytest.raises(ValueError, match="weight must be whole"):
        m.confidence_intervals([m.Metric(m.map_at_r)], SCORES, TARGET, weight=WEIGHT / 2)
    with pytest.warns(RuntimeWarning, match="1 of 1 lists have only one class"):
        (found,) = m.confidence_intervals(metric, SCORES, TARGET * 0)
    assert math.isnan(found.value)
    assert math.isnan(found.low)
