"""Metrics of one operating point against the curves of scikit-learn."""

import warnings

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise import metrics as m
from rankwise.metrics import _cells, confidence
from rankwise.naming import metric

RATES = (0.001, 0.1, 0.25, 0.3, 0.5, 0.6, 2 / 3, 0.8, 1.0)


def by_curves(name, scores, target, rate, weight=None):
    """The four by definition, from all points of scikit-learn's curves."""
    precision, recall, _ = sk.precision_recall_curve(target, scores, sample_weight=weight)
    fpr, tpr, _ = sk.roc_curve(target, scores, sample_weight=weight, drop_intermediate=False)
    near = 1e-10
    return {
        "precision_at_recall": precision[recall >= rate - near].max(),
        "recall_at_precision": recall[precision >= rate - near].max(),
        "tpr_at_fpr": tpr[fpr <= rate + near].max(),
        "fpr_at_tpr": fpr[tpr >= rate - near].min(),
    }[name]


OPTIONS = {
    "precision_at_recall": "min_recall",
    "recall_at_precision": "min_precision",
    "tpr_at_fpr": "max_fpr",
    "fpr_at_tpr": "min_tpr",
}
each = pytest.mark.parametrize("name", OPTIONS)


def ours(name, scores, target, rate, **data):
    return float(getattr(m, name)(scores, target, **{OPTIONS[name]: rate}, **data))


@each
@settings(max_examples=40)
@given(st.integers(0, 2**31), st.sampled_from(RATES), st.sampled_from(["none", "counts", "masses"]))
def test_it_is_the_best_point_of_scikit_learns_curve(name, seed, rate, weights):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    scores, target = rng.integers(-4, 5, n).astype(float), rng.integers(0, 2, n)
    target[:2] = [0, 1]
    weight = {"none": None, "counts": rng.integers(1, 4, n), "masses": rng.random(n) + 0.1}[weights]
    expected = by_curves(name, scores, target, rate, weight)
    assert ours(name, scores, target, rate, weight=weight) == pytest.approx(expected, abs=1e-12)
    strict = ours(name, scores, target, rate, weight=weight, ties="against")
    assert strict == pytest.approx(expected, abs=1e-12)


def test_tied_rows_are_flagged_together(ranked):
    scores, target = np.array([2.0, 1.0, 1.0, 0.0]), np.array([1, 1, 0, 0])
    # The second positive comes only with the negative it is tied with.
    assert ours("tpr_at_fpr", scores, target, 0.4) == 1 / 2
    assert ours("tpr_at_fpr", scores, target, 0.5) == 1
    assert ours("fpr_at_tpr", scores, target, 0.9) == 1 / 2
    assert ours("precision_at_recall", scores, target, 1.0) == 2 / 3
    assert ours("recall_at_precision", scores, target, 0.7) == 1 / 2


def test_a_later_threshold_counts_where_it_is_better(ranked):
    scores, target = ranked(0, 1, 1, 1, 0)
    # Precision 1/2 where the recall is first a third, 3/4 where it is 1.
    assert ours("precision_at_recall", scores, target, 1 / 3) == 3 / 4
    assert ours("recall_at_precision", scores, target, 0.75) == 1


def test_a_precision_out_of_reach_has_the_recall_of_no_row(ranked):
    assert ours("recall_at_precision", *ranked(0, 1, 0, 0), 0.9) == 0
    assert ours("tpr_at_fpr", *ranked(0, 1, 0, 0), 0.0) == 0
    assert ours("tpr_at_fpr", *ranked(1, 0, 1, 0), 0.0) == 1 / 2


@pytest.mark.parametrize("rate", [0.3, 0.1, 0.7])
def test_a_share_of_rows_is_not_lost_to_rounding(rate):
    n = 10
    scores, target = np.arange(2 * n, 0, -1.0), np.tile([0, 1], n)
    assert ours("tpr_at_fpr", scores, target, rate) == pytest.approx(rate, abs=1e-12)


@each
@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan"), True])
def test_a_limit_that_is_no_share_is_refused(name, rate):
    with pytest.raises(ValueError, match=rf"{OPTIONS[name]} must be in .0, 1], got"):
        ours(name, np.arange(4.0), np.array([0, 1, 0, 1]), rate)


def test_only_a_false_positive_rate_may_be_zero():
    for name in set(OPTIONS) - {"tpr_at_fpr"}:
        with pytest.raises(ValueError, match=r"must be in \(0, 1\], got 0"):
            ours(name, np.arange(4.0), np.array([0, 1, 0, 1]), 0)


@each
def test_its_name_takes_the_limit_with_or_without_the_option(name):
    assert metric(f"{name}(.25)").options == {OPTIONS[name]: 0.25}
    assert metric(f"{name}({OPTIONS[name]}=.25)").options == {OPTIONS[name]: 0.25}
    with pytest.raises(ValueError, match=f"{OPTIONS[name]}: write"):
        metric(name)
    assert metric(f"{name}(.25)").higher_is_better == (name != "fpr_at_tpr")


@each
def test_a_histogram_refuses_a_metric_that_chooses_a_threshold(name):
    counts = m.ScoreHistogram()
    counts.add(np.array([0.0, 1.0]), np.array([0, 1]))
    with pytest.raises(ValueError, match="which needs the items"):
        counts.bounds(metric(f"{name}(.6)"))


N = 4_000
RNG = np.random.default_rng(1)
TARGET = (RNG.random(N) < 0.3).astype(np.int64)
SCORES = RNG.standard_normal(N) + 1.5 * TARGET
POINTS = [metric(text) for text in ("precision_at_recall(.6)", "recall_at_precision(.7)")]
POINTS += [metric(text) for text in ("tpr_at_fpr(.05)", "fpr_at_tpr(.9)")]


@pytest.mark.parametrize("weight", [None, RNG.integers(1, 4, N), RNG.random(N) + 0.5])
@pytest.mark.parametrize("work", [0, 10**8], ids=["blocks", "cells"])
def test_long_lists_have_the_interval_of_the_bootstrap(weight, work, monkeypatch):
    monkeypatch.setattr(confidence, "SMALL", 1000)
    monkeypatch.setattr(confidence, "WORK", work)
    monkeypatch.setattr(_cells, "NARROW", 500)
    found = m.confidence_intervals(POINTS, SCORES, TARGET, weight=weight, resamples=400)
    for made, interval in zip(POINTS, found, strict=True):
        expected = m.bootstrap_interval(
            made.metric, SCORES, TARGET, weight=weight, resamples=400, **made.options
        )
        assert interval.method == "bootstrap"
        assert interval.value == pytest.approx(expected.value, abs=1e-12)
        # Two widths of 400 draws differ by some 10 % of one by chance.
        width = expected.high - expected.low
        assert interval.high - interval.low == pytest.approx(width, rel=0.3), made
        assert interval.low == pytest.approx(expected.low, abs=0.3 * width), made


def test_one_class_has_no_interval(monkeypatch):
    monkeypatch.setattr(confidence, "SMALL", 10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = m.confidence_intervals(POINTS, SCORES[:50], np.ones(50))
    assert all(np.isnan([each.value, each.low, each.high]).all() for each in found)
