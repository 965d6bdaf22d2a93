"""A metric by group against the metric of the rows of each group."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankwise.metrics import (
    auroc,
    bootstrap_interval,
    compare_groups,
    compare_independent,
    partial_auroc,
)


def rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    target, group = rng.integers(0, 2, n), rng.choice([2, 5, 9], n)
    shift = np.select([group == 2, group == 5], [1.5, 0.2], 0.8)
    return rng.standard_normal(n) + shift * target, target, group


def test_values_are_those_of_the_rows_and_the_ends_are_compared():
    scores, target, group = rows()
    found = compare_groups(auroc, scores, target, group, resamples=50, seed=3)
    assert list(found.values) == [2, 5, 9]
    for name, value in found.values.items():
        inside = group == name
        assert value == bootstrap_interval(
            auroc, scores[inside], target[inside], resamples=50, seed=3
        )
    assert (found.highest, found.lowest) == (2, 5)
    assert found.difference == compare_independent(found.values[2], found.values[5])


def test_weights_and_options_are_passed_on():
    scores, target, group = rows()
    weight = np.where(group == 5, 2.0, 1.0) * np.arange(1, 301)
    found = compare_groups(
        partial_auroc, scores, target, group, weight=weight, max_fpr=0.3, resamples=5
    )
    inside = group == 9
    expected = partial_auroc(scores[inside], target[inside], weight=weight[inside], max_fpr=0.3)
    assert found.values[9].value == expected


@pytest.mark.parametrize("kind", [list, np.array, lambda words: np.array(words, dtype=object)])
def test_groups_may_be_words(kind):
    scores, target, group = rows()
    names = {2: "north", 5: "south", 9: "east"}
    words = [names[each] for each in group.tolist()]
    found = compare_groups(auroc, scores, target, kind(words), resamples=5)
    known = compare_groups(auroc, scores, target, group, resamples=5)
    assert {name: found.values[word] for name, word in names.items()} == known.values
    assert (found.highest, found.lowest) == ("north", "south")
    assert found.difference == known.difference


@pytest.mark.parametrize("other", [None, math.nan, 3])
def test_a_group_that_is_no_word_is_named(other):
    scores, target, group = rows()
    words = np.array(["north"] * len(group), dtype=object)
    words[7] = other
    with pytest.raises(ValueError, match=f"integers or words, got {other} among them"):
        compare_groups(auroc, scores, target, words)


def test_the_interval_covers_a_known_difference():
    # Two groups of one law: the true difference is 0.
    inside = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        target, group = rng.integers(0, 2, 200), np.arange(200) % 2
        scores = rng.standard_normal(200) + target
        found = compare_groups(auroc, scores, target, group, resamples=200).difference
        inside += found.low <= 0 <= found.high
    assert inside >= 35


@pytest.mark.parametrize(
    ("group", "message"),
    [
        ([0, 0, 0, 0], r"attribute must have at least two groups, got \[0\]"),
        ([0, 0, 1], r"attribute \(3,\) and scores \(4,\)"),
        ([0.0, 0.0, 1.0, 1.0], "attribute integers"),
        ([0, 0, 0, 1], "got one class in group 1; leave its items out"),
    ],
)
def test_bad_groups_are_named(group, message):
    with pytest.raises(ValueError, match=message):
        compare_groups(auroc, [0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1], group)
