from __future__ import annotations

import pytest

from reproductions.why_the_metric_matters.compare import (
    contradictions,
    holds,
    opposed,
    order_of,
    pairs_of,
    shown_order,
    votes,
)
from reproductions.why_the_metric_matters.example import Example, Ranking
from reproductions.why_the_metric_matters.measure import Measured, Value

LISTS = tuple(Ranking.of(name, "", [1, 0]) for name in "abc")
TRIAL = Example("t", "s", "", LISTS, (1,), (1, 2), (), ())


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ({"a": 0.1, "b": 0.3, "c": 0.2}, "b > c > a"),
        ({"a": 0.1, "b": 0.3, "c": 0.1 + 1e-15}, "b > a = c"),
        ({"a": 1.0, "b": 1.0}, "a = b"),
        ({"a": 1.0}, "a"),
    ],
)
def test_orders(values, shown):
    assert shown_order(order_of(values)) == shown
    assert holds(shown, values)


def test_a_stated_order_is_that_of_the_named_alone():
    values = {"a": 0.1, "b": 0.3, "c": 0.2}
    assert holds("c > a", values)
    assert holds("b > a", values)
    assert not holds("a > c", values)
    assert not holds("a = c", values)
    assert not holds("c > d", values)


def test_votes_and_opposition():
    values = {
        "up": {"a": 3.0, "b": 2.0, "c": 1.0},
        "down": {"a": 1.0, "b": 2.0, "c": 3.0},
        "flat": {"a": 1.0, "b": 1.0, "c": 1.0},
        "part": {"a": 1.0},
    }
    assert votes(values, "a", "b") == {1: ["up"], -1: ["down"], 0: ["flat"]}
    assert opposed(values, pairs_of(TRIAL)) == [("up", "down")]


def test_contradictions_count_pairs_and_join_the_cuts_of_a_family():
    rows = {
        ("p@1", "p"): {"a": 2.0, "b": 1.0, "c": 1.0},
        ("p@2", "p"): {"a": 1.0, "b": 1.0, "c": 2.0},
        ("q", "q"): {"a": 1.0, "b": 2.0, "c": 0.0},
    }
    values = [
        Value("t", ranking, metric, family, value)
        for (metric, family), own in rows.items()
        for ranking, value in own.items()
    ]
    found = Measured(values, 0.0, [], {})
    # a–b: p@1 against q. a–c: p@1 with q, p@2 against q. b–c: p@2 against q.
    assert contradictions([TRIAL], found) == {("p", "q"): 3}
