import numpy as np
import pytest
import torch
from scipy import stats

from rankwise import metrics as m
from rankwise.metrics import choose_threshold
from rankwise.metrics._threshold_rules import ranks_to_test

# Descending: + − + + − −
SCORES = np.array([6.0, 5.0, 4.0, 3.0, 2.0, 1.0])
TARGET = np.array([1, 0, 1, 1, 0, 0])


@pytest.mark.parametrize(
    ("rule", "cut"),
    [
        ("f1", 2.5),  # 6/7 with four flagged
        ("recall>=0.3", 5.5),
        ("recall>=0.34", 3.5),  # two of three
        ("recall>=1", 2.5),
        ("precision>=0.75", 2.5),  # 3 of 4
        ("precision>=0.76", 5.5),  # 1 of 1
        ("fpr<=0", 5.5),
        ("fpr<=0.34", 2.5),
        ("alerts<=3/6", 3.5),
        ("alerts<=2/6", 5.5),  # a second alert would find nothing
        ("alerts<=600/1000", 3.5),
    ],
)
def test_rules_by_hand(rule, cut):
    point = choose_threshold(SCORES, TARGET, rule)
    assert point.threshold == cut
    assert point.supported
    assert point.rule == rule
    assert choose_threshold(torch.tensor(SCORES), torch.tensor(TARGET), rule).threshold == cut


def test_alerts_of_a_day():
    point = choose_threshold(SCORES, TARGET, "alerts<=50/day", rows_per_day=100)
    assert point.threshold == 3.5
    with pytest.raises(ValueError, match="rows_per_day"):
        choose_threshold(SCORES, TARGET, "alerts<=50/day")


def test_the_threshold_has_the_value_of_the_metric():
    rng = np.random.default_rng(0)
    target, weight = rng.integers(0, 2, 300), rng.random(300)
    scores = (rng.standard_normal(300) + target).round(1)
    point = choose_threshold(scores, target, "precision>=0.8", weight=weight)
    expected = m.recall_at_precision(scores, target, min_precision=0.8, weight=weight)
    assert point.recall.value == pytest.approx(expected)
    point = choose_threshold(scores, target, "fpr<=0.1", weight=weight)
    assert point.recall.value == pytest.approx(
        m.tpr_at_fpr(scores, target, max_fpr=0.1, weight=weight)
    )
    point = choose_threshold(scores, target, "recall>=0.8", weight=weight)
    assert point.fpr.value == pytest.approx(
        m.fpr_at_tpr(scores, target, min_tpr=0.8, weight=weight)
    )


def test_rates_have_exact_intervals_of_shares():
    point = choose_threshold(SCORES, TARGET, "precision>=0.75")
    pairs = {"precision": (3, 4), "recall": (3, 3), "fpr": (1, 3), "alert_rate": (4, 6)}
    for name, (k, n) in pairs.items():
        found = getattr(point, name)
        expected = stats.binomtest(k, n).proportion_ci(0.95, method="exact")
        assert found.value == k / n
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
        assert found.method == "clopper-pearson"


def test_weights_of_one_row_make_the_interval_wider():
    weight = np.where(np.arange(200) % 10 == 0, 10.0, 1.0)
    rng = np.random.default_rng(0)
    target = rng.integers(0, 2, 200)
    scores = rng.standard_normal(200) + target
    even = choose_threshold(scores, target, "recall>=0.8").recall
    uneven = choose_threshold(scores, target, "recall>=0.8", weight=weight).recall
    assert uneven.high - uneven.low > 1.2 * (even.high - even.low)


def test_a_precision_that_nothing_has_flags_no_row():
    point = choose_threshold(SCORES, 1 - TARGET, "precision>=0.9")
    assert not point.supported
    assert point.threshold == 6
    assert point.flagged == 0
    assert np.isnan(point.precision.value)
    assert "no threshold has the precision 0.9 on these rows, the best has 0.5" in point.reason


def test_the_same_threshold_on_other_rows():
    point = choose_threshold(SCORES, TARGET, "recall>=0.34")
    again = point.at(SCORES[::-1].copy(), TARGET)
    assert again.threshold == point.threshold
    assert (again.true_positives, again.false_positives) == (1, 2)


@pytest.mark.parametrize(
    ("rule", "need", "least"),
    [
        ("recall>=0.9@95%", "positives", 29),
        ("fpr<=0.01@95%", "negatives", 299),
        ("alerts<=1/100@95%", "rows", 299),
    ],
)
def test_too_few_rows_say_how_many_are_needed(rule, need, least):
    rng = np.random.default_rng(0)
    for count, enough in ((least - 1, False), (least, True)):
        extra = 5 if need != "rows" else 0
        target = np.zeros(count + extra, dtype=int)
        target[: count if need == "positives" else extra or 5] = 1
        point = choose_threshold(rng.standard_normal(len(target)), target, rule)
        assert point.supported == enough
        if not enough:
            assert f"needs at least {least} {need}, got {count}" in point.reason
    assert point.rule == rule


def test_an_unsupported_limit_takes_the_trivial_threshold():
    assert choose_threshold(SCORES, TARGET, "recall>=0.9@95%").recall.value == 1
    for rule in ("fpr<=0.1@95%", "precision>=0.9@95%", "alerts<=1/100@95%"):
        point = choose_threshold(SCORES, TARGET, rule)
        assert (point.supported, point.flagged) == (False, 0)


def test_a_precision_without_support_says_what_was_found_and_what_is_needed():
    rng = np.random.default_rng(0)
    target = (np.arange(400) % 4 == 0).astype(int)
    reason = choose_threshold(rng.standard_normal(400), target, "precision>=0.8@95%").reason
    ranks = ranks_to_test(400, 0.8, 0.05)
    least = int(np.ceil(np.log(0.05 / len(ranks)) / np.log(0.8)))
    assert f"the best of {len(ranks)} has" in reason
    assert f"At least {least} positives are needed" in reason
    short = choose_threshold(np.arange(10.0), np.arange(10) > 4, "precision>=0.8@95%").reason
    assert "needs at least 14 flagged rows, got 10" in short


def test_order_statistics_by_hand():
    # P(Bin(100, .1) ≥ 6) = .942, ≥ 5: .976: the fifth lowest positive may be the last one found.
    target = np.append(np.ones(100, dtype=int), [0])
    scores = np.append(np.arange(1.0, 101), 0.0)
    point = choose_threshold(scores, target, "recall>=0.9@95%")
    assert point.true_positives == 96
    assert 4 < point.threshold < 5
    # Above the fifth highest negative there are four.
    point = choose_threshold(scores, 1 - target, "fpr<=0.1@95%")
    assert (point.false_positives, point.threshold) == (4, 96)


def test_a_confidence_refuses_weights_and_allows_absent_rows():
    target = np.arange(60) % 2
    scores = target + np.linspace(0, 0.5, 60)
    with pytest.raises(ValueError, match="rows that count once each"):
        choose_threshold(scores, target, "recall>=0.9@95%", weight=np.full(60, 2.0))
    weight = np.where(np.arange(60) < 58, 1.0, 0.0)
    found = choose_threshold(scores, target, "recall>=0.9@95%", weight=weight)
    expected = choose_threshold(scores[:58], target[:58], "recall>=0.9@95%")
    assert found.threshold == expected.threshold


@pytest.mark.parametrize("shape", [(2, 6), (12,)])
def test_one_list_of_two_classes_is_needed(shape):
    with pytest.raises(ValueError, match=r"one list|both classes"):
        choose_threshold(np.zeros(shape), np.zeros(shape), "f1")


def test_ranks_are_the_fewest_that_can_pass_and_grow_by_a_fifth():
    ranks = ranks_to_test(10_000, 0.8, 0.05)
    assert 0.8 ** (ranks[0] - 1) <= 0.05 / len(ranks)
    assert ranks[-1] <= 10_000
    assert np.all(np.diff(ranks) / (ranks[:-1] - 1) < 0.25)
    assert len(ranks_to_test(10, 0.8, 0.05)) == 0


def test_the_rates_on_rows_of_one_class():
    point = choose_threshold([0.9, 0.8, 0.3, 0.1], [1, 0, 1, 0], "recall>=0.9")
    flagged = point.at([0.5, 0.6, 0.1], [0, 0, 0])
    assert (flagged.fpr.value, flagged.precision.value) == (pytest.approx(2 / 3), 0)
    assert np.isnan(flagged.recall.value)
    with pytest.raises(ValueError, match="at least one row that counts"):
        point.at([], [])
