import math
from itertools import permutations, product

import numpy as np
import pytest
import torch
from scipy.stats import studentized_range, ttest_rel

from rankwise.metrics import compare_lists, compare_many, holm

RNG = np.random.default_rng(0)
VALUES = RNG.random(30) + np.array([[0.0], [0.02], [0.2]]) + 0.3 * RNG.random((3, 30))


def by_regression(values):
    """Tukey's p-values with the residuals of a least-squares fit of models and lists."""
    models, lists = values.shape
    rows = [(m, q) for m in range(models) for q in range(lists)]
    design = np.zeros((len(rows), models + lists))
    for row, (m, q) in enumerate(rows):
        design[row, m] = design[row, models + q] = 1
    flat = values.ravel()
    fitted = design @ np.linalg.lstsq(design, flat, rcond=None)[0]
    freedom = len(rows) - np.linalg.matrix_rank(design)
    error = math.sqrt(((flat - fitted) ** 2).sum() / freedom / lists)
    gaps = {
        (a, b): abs(values[a].mean() - values[b].mean())
        for a in range(models)
        for b in range(a + 1, models)
    }
    return {pair: studentized_range.sf(g / error, models, freedom) for pair, g in gaps.items()}


def test_tukey_is_that_of_a_two_way_fit():
    found = compare_many(VALUES, method="tukey-hsd")
    expected = by_regression(VALUES)
    assert {pair: each.p_value for pair, each in found.items()} == pytest.approx(expected, abs=1e-9)


def test_of_two_models_tukey_is_the_paired_t_test():
    pair = VALUES[:2]
    found = compare_many(pair, method="tukey-hsd")[0, 1]
    theirs = ttest_rel(*pair)
    assert found.p_value == pytest.approx(theirs.pvalue, abs=1e-7)
    interval = theirs.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=1e-6)


def test_randomized_tukey_is_near_the_share_of_all_orders():
    values = np.array([[0.1, 0.5, 0.3, 0.9], [0.2, 0.4, 0.6, 0.8], [0.7, 0.9, 0.4, 1.0]])
    columns = [list(permutations(column)) for column in values.T]
    ranges = np.array([np.ptp(np.mean(order, axis=0)) for order in product(*columns)])
    found = compare_many(values, resamples=20_000)
    for (a, b), each in found.items():
        exact = np.mean(ranges >= abs(values[a].mean() - values[b].mean()) - 1e-9)
        assert each.p_value == pytest.approx(exact, abs=4 * math.sqrt(0.25 / 20_000))
        assert each.high - each.difference == pytest.approx(np.quantile(ranges, 0.95), abs=0.02)


def test_of_two_models_it_is_the_randomization_test():
    found = compare_many(VALUES[1:], resamples=20_000)[0, 1]
    alone = compare_lists(VALUES[1], VALUES[2], resamples=20_000)
    assert found.p_value == pytest.approx(alone.p_value, abs=0.01)
    assert found.difference == pytest.approx(alone.difference)


def test_holm_adjusts_the_single_tests():
    found = compare_many(VALUES, method="holm", resamples=2000)
    alone = {
        (a, b): compare_lists(VALUES[a], VALUES[b], resamples=2000)
        for a, b in ((0, 1), (0, 2), (1, 2))
    }
    adjusted = holm([each.p_value for each in alone.values()])
    assert [each.p_value for each in found.values()] == adjusted
    for pair, each in found.items():
        assert (each.low, each.high) == pytest.approx((alone[pair].low, alone[pair].high))
        assert each.method == "holm"


@pytest.mark.parametrize("method", ["randomized-tukey", "holm"])
def test_equal_models_are_seldom_significantly_different(method):
    """The chance that any of six pairs has p < 0.05 is at most 0.05; single tests have 0.2."""
    rng = np.random.default_rng(1)
    wrong = 0
    for _ in range(100):
        values = rng.random(25) + 0.2 * rng.normal(size=(4, 25))
        found = compare_many(values, method=method, resamples=300)
        wrong += any(each.p_value < 0.05 for each in found.values())
    assert wrong <= 12  # of 100: 5 ± 3 standard deviations


@pytest.mark.parametrize("method", ["randomized-tukey", "tukey-hsd", "holm"])
def test_a_model_does_not_differ_from_itself(method):
    values = np.tile(VALUES[0], (3, 1))
    found = compare_many(values, method=method, resamples=200)
    assert {each.p_value for each in found.values()} == {1.0}


def test_lists_without_a_value_are_left_out():
    values = VALUES.copy()
    values[1, 3] = math.nan
    kept = np.delete(VALUES, 3, axis=1)
    assert compare_many(values, method="tukey-hsd") == compare_many(kept, method="tukey-hsd")
    assert compare_many(torch.tensor(values), method="tukey-hsd") == compare_many(
        kept, method="tukey-hsd"
    )


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"at least two, .* got shape \(1, 3\)"):
        compare_many(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="at least two lists with a value of every model, got 1"):
        compare_many(np.array([[1.0, math.nan], [0.0, 1.0]]))
    with pytest.raises(ValueError, match="method must be one of"):
        compare_many(VALUES, method="bonferroni")
