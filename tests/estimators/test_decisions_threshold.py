from __future__ import annotations

import numpy as np
import pytest

from rankwise.estimators._decisions import Rule, parse_rule
from rankwise.serving.calibration import Calibrator

# Descending: + − + + − −
SCORES = np.array([6.0, 5.0, 4.0, 3.0, 2.0, 1.0])
POSITIVE = np.array([True, False, True, True, False, False])
PLAIN = Calibrator()


def _cut(rule: str | float, scores=SCORES, positive=POSITIVE, weight=None) -> float:
    return parse_rule(rule).score(scores, positive, weight, PLAIN)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("f1", Rule("f1")),
        (" F1 ", Rule("f1")),
        ("precision>=0.9", Rule("precision", 0.9)),
        ("precision >= .9", Rule("precision", 0.9)),
        ("fpr<=5e-2", Rule("fpr", 0.05)),
        ("top=100", Rule("top", 100)),
        (0.25, Rule("probability", 0.25)),
        (np.float32(0.25), Rule("probability", 0.25)),
        ("0.25", Rule("probability", 0.25)),
    ],
)
def test_rules_are_read(text: str | float, rule: Rule) -> None:
    assert parse_rule(text) == rule


@pytest.mark.parametrize(
    "bad", ["f2", "precision", "precision<=0.9", "precision>=1.5", "top=0", "top=-3", "fpr<=x", ""]
)
def test_a_word_that_is_no_rule(bad: str) -> None:
    with pytest.raises(ValueError, match="threshold"):
        parse_rule(bad)


@pytest.mark.parametrize("bad", [0.0, 1.0, -0.1, float("nan"), True, None, [0.5]])
def test_a_thing_that_is_no_probability(bad: object) -> None:
    with pytest.raises(ValueError, match="threshold"):
        parse_rule(bad)  # type: ignore[arg-type]


def test_best_f1_by_hand() -> None:
    # F1 at 1…6 flagged: 2/4, 2/5, 4/6, 6/7, 6/8, 6/9: the best is at four.
    assert _cut("f1") == 2.5


def test_best_f1_by_weight() -> None:
    # The first negative counts 10 times: 2/4 at one, then 2·3/(3 + 11 + 3)… stays below.
    weight = np.array([1, 10, 1, 1, 1, 1.0])
    assert _cut("f1", weight=weight) == 5.5


def test_a_weight_is_that_many_rows() -> None:
    rng = np.random.default_rng(0)
    scores, weight = rng.integers(0, 12, 40).astype(float), rng.integers(1, 4, 40)
    positive = rng.random(40) < 0.1 + scores / 15
    for rule in ("f1", "precision>=0.7", "fpr<=0.3"):
        many = [np.repeat(a, weight) for a in (scores, positive)]
        once = _cut(rule, scores, positive, weight.astype(float))
        assert once == _cut(rule, *many)


@pytest.mark.parametrize(
    ("rule", "cut"),
    [
        ("precision>=0.75", 2.5),  # 3 of 4
        ("precision>=0.76", 5.5),  # 1 of 1
        ("precision>=0.5", 2.5),  # all 3 are found at the fourth; lower only adds alarms
        ("fpr<=0", 5.5),
        ("fpr<=0.34", 2.5),  # one of three negatives
        ("fpr<=1", 2.5),  # all are found there already
    ],
)
def test_bounded_rules_by_hand(rule: str, cut: float) -> None:
    assert _cut(rule) == cut


def test_rate_that_only_nothing_has() -> None:
    cut = _cut("fpr<=0.1", positive=np.array([False, True, True, True, False, False]))
    assert cut == 6.0  # above 6 there is none of these rows


def test_precision_that_nothing_has_warns() -> None:
    with pytest.warns(UserWarning, match=r"no threshold has the precision 0\.9.*0\.6"):
        cut = _cut("precision>=0.9", positive=np.array([False, True, True, False, False, False]))
    assert cut == 6.0


def test_ties_stay_on_one_side() -> None:
    scores = np.array([3.0, 3.0, 3.0, 1.0])
    assert _cut("f1", scores, np.array([True, True, False, False])) == 2.0
    with pytest.warns(UserWarning, match="0.667"):
        cut = _cut("precision>=0.9", scores, np.array([True, True, False, False]))
    assert cut == 3.0


def test_everything_may_be_positive() -> None:
    cut = _cut("f1", np.array([1.0, 2.0]), np.array([True, True]))
    assert cut < 1.0
    assert _cut("f1", np.array([5.0, 5.0]), np.array([True, False])) < 5.0


def test_neighboring_numbers_are_told_apart() -> None:
    low = 1.0
    high = np.nextafter(low, 2)
    cut = _cut("f1", np.array([high, low]), np.array([True, False]))
    assert Rule("f1").positive(np.array([high, low]) - cut).tolist() == [True, False]


def test_a_probability_is_looked_up() -> None:
    assert parse_rule(0.5).score(SCORES, POSITIVE, None, Calibrator(2.0, -3.0)) == 1.5


def test_top_k() -> None:
    rule, decision = parse_rule("top=2"), np.array([0.1, 5.0, -3.0, 4.0])
    assert rule.positive(decision).tolist() == [False, True, False, True]
    assert rule.score(SCORES, POSITIVE, None, PLAIN) == 0
    assert rule.positive(decision[:2]).all()
    assert rule.positive(decision[:0]).tolist() == []


def test_top_k_leaves_out_who_is_tied_over_the_edge() -> None:
    rule = parse_rule("top=2")
    assert rule.positive(np.array([1.0, 2.0, 1.0])).tolist() == [False, True, False]
    assert not rule.positive(np.zeros(5)).any()
