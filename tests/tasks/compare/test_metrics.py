from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from sklearn.metrics import average_precision_score

from rankwise.data import DataError
from rankwise.metrics import delong_interval, delong_test, logit_interval
from rankwise.tasks.compare.metrics import (
    Estimate,
    Truth,
    corrected,
    every_metric,
    is_graded,
    resolve_metric,
)

RNG = np.random.default_rng(0)
TARGET = (RNG.random(300) < 0.2).astype(float)
SCORES = TARGET + RNG.normal(size=300)
OTHERS = TARGET + 2 * RNG.normal(size=300)
GROUPS = RNG.integers(30, size=300)


def test_formulas_where_there_are_some():
    assert Truth(TARGET).interval("auc", SCORES) == delong_interval(SCORES, TARGET)
    assert Truth(TARGET).interval("ap", SCORES) == logit_interval(SCORES, TARGET)
    assert Truth(TARGET).interval("auroc", SCORES).method == "delong"
    found = Truth(TARGET).difference("auc", SCORES, OTHERS)
    assert found == delong_test(SCORES, OTHERS, TARGET)


def test_the_bootstrap_for_all_else():
    assert Truth(TARGET, GROUPS).interval("auc", SCORES).method == "bootstrap"
    assert Truth(TARGET).interval("precision@10", SCORES).method == "bootstrap"
    perfect = Truth(TARGET).interval("ap", TARGET)
    assert (perfect.value, perfect.low, perfect.high) == (1, 1, 1)
    one = np.arange(300) == 7
    assert Truth(one.astype(float)).interval("auc", SCORES).method == "bootstrap"
    found = Truth(TARGET).difference("ap", SCORES, OTHERS)
    assert found.method == "bootstrap"
    expected = average_precision_score(TARGET, SCORES) - average_precision_score(TARGET, OTHERS)
    assert found.difference == pytest.approx(expected)
    assert found.p_value < 0.05


def test_next_to_1_the_interval_is_one_that_says_something():
    target = (np.arange(300) < 30).astype(float)
    scores = 300.0 - np.arange(300)
    scores[29], scores[30] = scores[30], scores[29]  # one pair in the wrong order
    assert logit_interval(scores, target).low < 0.05  # 0.9989 by the formula
    found = Truth(target).interval("ap", scores)
    assert found.value == pytest.approx(average_precision_score(target, scores))
    assert found.method == "bootstrap"
    assert 0.98 < found.low < found.value <= found.high <= 1


def test_lists_of_one_class_are_left_out_in_silence():
    groups = np.arange(300) // 3
    assert 0 < Truth(TARGET, groups).value("ap", SCORES) < 1
    assert Truth(TARGET, groups).difference("ap", SCORES, OTHERS).p_value <= 1


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("graded", [False, True])
def test_every_metric_that_is_listed_has_a_value(grouped, graded):
    if graded and not grouped:
        return
    target = TARGET * RNG.integers(1, 4, size=300) if graded else TARGET
    for name in every_metric(300, grouped=grouped, graded=graded):
        assert 0 <= Truth(target, GROUPS if grouped else None).value(name, SCORES) <= 1
        assert is_graded(name) or not graded
        resolve_metric(name, grouped=grouped)


@pytest.mark.parametrize("name", ["ndcg", "ndcg@10", "mrr", "hit@10"])
def test_a_mean_over_lists_needs_lists(name):
    with pytest.raises(DataError, match="with --group"):
        resolve_metric(name, grouped=False)
    assert resolve_metric(name, grouped=True) == name


def test_the_interval_and_p_are_students_with_the_variance_enlarged_by_what_folds_share():
    values = [0.1, 0.3, 0.2, 0.2, 0.3, 0.1, 0.2, 0.2, 0.2, 0.2]
    found = corrected(values, trained=400, tested=100)
    variance = sum((value - 0.2) ** 2 for value in values) / 9
    error = math.sqrt((1 / 10 + 100 / 400) * variance)
    assert found.mean == pytest.approx(0.2)
    # Student's quantile and tail of nine degrees of freedom.
    assert found.high - found.mean == pytest.approx(2.2621571628 * error)
    assert found.mean - found.low == pytest.approx(2.2621571628 * error)
    plain = ttest_1samp(values, 0.0)
    assert plain.statistic * math.sqrt(variance / 10) / error == pytest.approx(0.2 / error)
    assert found.p > plain.pvalue


def test_folds_that_agree_leave_no_doubt_and_no_difference_is_no_difference():
    assert corrected([0.0, 0.0, 0.0], 4, 1) == Estimate(0.0, 0.0, 0.0, 1.0)
    assert corrected([0.5, 0.5], 4, 1) == Estimate(0.5, 0.5, 0.5, 0.0)


def test_a_fold_without_a_value_leaves_none():
    found = corrected([0.5, math.nan], 4, 1)
    assert all(math.isnan(each) for each in (found.mean, found.low, found.high, found.p))
    assert math.isnan(found.within(0.0, 1.0).low)


def test_an_interval_is_kept_within_what_a_metric_can_be():
    found = corrected([0.1, 0.9], 1, 1).within(0.0, 1.0)
    assert (found.low, found.high) == (0.0, 1.0)
