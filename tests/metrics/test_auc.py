import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from rankwise import metrics as m

TABLE_1 = {
    "f1": (0, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0),
    "f2": (1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1),
    "f3": (1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1),
}


@pytest.mark.parametrize(
    ("positives", "top_negatives", "expected"),
    [
        ((0.90, 0.80, 0.70), (0.60, 0.60), 1),
        ((0.90, 0.41, 0.70), (0.60, 0.49), 59 / 66),
        ((0.90, 0.41, 0.40), (0.49, 0.48), 52 / 66),
    ],
)
def test_table_2_2(positives, top_negatives, expected):
    hidden = np.linspace(0.39, 0.11, 14)
    negatives = (*top_negatives, 0.47, 0.47, 0.45, 0.43, 0.42, *hidden, 0.10)
    scores = np.array([*positives, *negatives])
    target = np.arange(25) < 3
    assert ((scores > 0.5) == target).mean() == 0.92
    assert m.auroc(scores, target) == pytest.approx(expected)


def test_accuracy_of_99_percent_at_an_auc_of_one_half():
    scores = np.array([0.5, -0.2, *np.linspace(-0.19, -0.01, 100)])
    target = np.arange(102) < 2
    assert ((scores > 0) == target).mean() == 101 / 102
    assert m.auroc(scores, target) == 0.5


def test_necessity_of_partial_auc(ranked):
    first = ranked(0, 0, 1, 1, *[0] * 98)
    second = ranked(1, *[0] * 4, 1, *[0] * 96)
    assert m.auroc(*first) == m.auroc(*second) == 196 / 200
    assert m.partial_auroc(*first, max_fpr=0.02) == 0
    assert m.partial_auroc(*second, max_fpr=0.02) == 0.5


@pytest.mark.parametrize(
    ("name", "area", "partial"),
    [("f1", 22 / 30, 2 / 10), ("f2", 21 / 30, 5 / 10), ("f3", 12 / 30, 4 / 10)],
)
def test_table_1_of_pap_at_k(ranked, name, area, partial):
    assert m.auroc(*ranked(*TABLE_1[name])) == pytest.approx(area)
    assert m.partial_auroc(*ranked(*TABLE_1[name]), max_fpr=2 / 6) == pytest.approx(partial)


@pytest.mark.parametrize(
    ("ranks", "expected", "rounded"),
    [
        ((1, 2, 8, 11), (7 + 7 + 2 + 0) / 28, 0.571),
        ((1, 3, 8, 9), (7 + 6 + 2 + 2) / 28, 0.607),
        ((1, 4, 7, 8), (7 + 5 + 3 + 3) / 28, 0.643),
    ],
)
def test_figure_1_of_stable_ap(ranked, ranks, expected, rounded):
    value = m.auroc(*ranked(*(int(r in ranks) for r in range(1, 12))))
    assert value == pytest.approx(expected)
    assert round(float(value), 3) == rounded


def test_ties_count_half_or_nothing():
    scores, target = np.array([1.0, 1.0, 0.0]), np.array([1, 0, 0])
    assert m.auroc(scores, target) == (1 / 2 + 1) / 2
    assert m.auroc(scores, target, ties="against") == (0 + 1) / 2


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_equal_to_scikit_learn(seed, weighted):
    rng = np.random.default_rng(seed)
    scores, target = rng.standard_normal(200).round(1), rng.integers(0, 2, 200)
    weight = rng.random(200) if weighted else None
    value = m.auroc(scores, target, weight=weight)
    assert value == pytest.approx(roc_auc_score(target, scores, sample_weight=weight), abs=1e-12)
    for max_fpr in (0.013, 0.1, 0.5, 1.0):
        value = m.partial_auroc(scores, target, max_fpr=max_fpr, standardized=True, weight=weight)
        expected = roc_auc_score(target, scores, max_fpr=max_fpr, sample_weight=weight)
        assert value == pytest.approx(expected, abs=1e-12)


def test_standardized_over_a_range(ranked):
    # ROC through (0, ½), (½, ½), (½, 1), (1, 1); from .25 to .75: ½·.25 + 1·.25 = .375
    chance, best = (0.75**2 - 0.25**2) / 2, 0.5
    value = m.partial_auroc(*ranked(1, 0, 1, 0), min_fpr=0.25, max_fpr=0.75, standardized=True)
    assert value == pytest.approx((1 + (0.375 - chance) / (best - chance)) / 2)


def share_of_pairs(positives, negatives, strict):
    pairs = [(p > n) + (0 if strict else (p == n) / 2) for p in positives for n in negatives]
    return sum(pairs) / len(pairs)


@pytest.mark.parametrize("ties", ["standard", "against"])
@settings(max_examples=60)
@given(st.data())
def test_partial_areas_are_means_over_the_selected_pairs(ties, data):
    positives = sorted(data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=7)))
    negatives = sorted(data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=7)))[::-1]
    low, high = sorted(data.draw(st.lists(st.integers(0, 10), min_size=2, max_size=2, unique=True)))
    min_fpr, max_fpr = low / 10, high / 10
    scores = np.array([*positives, *negatives], dtype=float)
    target = np.arange(len(scores)) < len(positives)
    n = len(negatives)
    k1 = min(math.ceil(n * low / 10 - 1e-9), n - 1)
    k2 = max(k1 + 1, math.floor(n * high / 10 + 1e-9))
    strict = ties == "against"
    one_way = m.partial_auroc(scores, target, min_fpr=min_fpr, max_fpr=max_fpr, ties=ties)
    expected = share_of_pairs(positives, negatives[k1:k2], strict)
    assert one_way == pytest.approx(expected, abs=1e-12)
    lowest = math.ceil(len(positives) * (1 - min_fpr) - 1e-9)
    highest = max(1, math.floor(n * max_fpr + 1e-9))
    two_way = m.two_way_partial_auroc(scores, target, min_tpr=min_fpr, max_fpr=max_fpr, ties=ties)
    expected = share_of_pairs(positives[:lowest], negatives[:highest], strict)
    assert two_way == pytest.approx(expected, abs=1e-12)


def test_counts_of_items_survive_rounding(ranked):
    # 100 · .29 is 28.999999999999996 and 100 · .07 is 7.000000000000001.
    last_of_29 = ranked(*[0] * 28, 1, *[0] * 72)
    assert m.partial_auroc(*last_of_29, max_fpr=0.29) == pytest.approx(1 / 29)
    assert m.two_way_partial_auroc(*last_of_29, max_fpr=0.29) == pytest.approx(1 / 29)
    assert m.partial_auroc(*last_of_29, min_fpr=0.07, max_fpr=0.29) == pytest.approx(1 / 22)


def test_the_whole_range_is_auroc():
    rng = np.random.default_rng(0)
    scores, target = rng.standard_normal(30).round(1), rng.integers(0, 2, 30)
    weight = rng.random(30)
    expected = pytest.approx(m.auroc(scores, target, weight=weight), abs=1e-12)
    assert m.partial_auroc(scores, target, weight=weight) == expected
    assert m.partial_auroc(scores, target, weight=weight, standardized=True) == expected
    assert m.two_way_partial_auroc(scores, target, weight=weight) == expected


def test_fractional_weights_take_a_fraction_of_an_item(ranked):
    # Negatives of mass .5, .5, 1: the first quarter of the mass is the first negative.
    scores, target = ranked(0, 1, 0, 1, 0)
    weight = np.array([0.5, 1, 0.5, 1, 1])
    value = m.partial_auroc(scores, target, max_fpr=0.75 / 2, weight=weight)
    assert value == pytest.approx((0.5 * 0 + 0.25 * 1 / 2) / 0.75)


@pytest.mark.parametrize(("low", "high"), [(-0.1, 0.5), (0.5, 0.5), (0.6, 0.5), (0, 1.1)])
def test_ranges_are_in_the_unit_interval(ranked, low, high):
    with pytest.raises(ValueError, match="min_fpr and max_fpr"):
        m.partial_auroc(*ranked(1, 0), min_fpr=low, max_fpr=high)


@pytest.mark.parametrize(
    ("options", "name"),
    [({"min_tpr": 1.0}, "min_tpr"), ({"min_tpr": -0.1}, "min_tpr"), ({"max_fpr": 0}, "max_fpr")],
)
def test_two_way_range(ranked, options, name):
    with pytest.raises(ValueError, match=name):
        m.two_way_partial_auroc(*ranked(1, 0), **options)
