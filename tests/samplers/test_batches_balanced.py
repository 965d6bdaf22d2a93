from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.samplers import BalancedBatches


@st.composite
def cases(draw):
    n_positives, n_negatives = draw(st.integers(1, 12)), draw(st.integers(1, 40))
    target = draw(st.permutations([1] * n_positives + [0] * n_negatives))
    return target, draw(st.integers(1, n_positives)), draw(st.integers(1, n_negatives))


@given(case=cases(), seed=st.integers(0, 100))
@settings(max_examples=100)
def test_counts_and_coverage(case, seed):
    target, positives, negatives = case
    sampler = BalancedBatches(target, positives, negatives, seed=seed)
    batches = list(sampler)
    for batch in batches:
        assert [target[item] for item in batch] == [1] * positives + [0] * negatives
        assert len(set(batch)) == len(batch)
    seen = Counter(item for batch in batches for item in batch)
    of_positives = [seen[item] for item, y in enumerate(target) if y == 1]
    assert max(of_positives) - min(of_positives) <= 1
    n_negatives = target.count(0)
    assert len(batches) == -(-n_negatives // negatives)
    again = len(batches) * negatives - n_negatives  # fill the last batch
    of_negatives = Counter(seen[item] for item, y in enumerate(target) if y == 0)
    assert of_negatives == Counter({1: n_negatives - again, 2: again})


def test_rates():
    sampler = BalancedBatches([1, 0, 0, 0, 0], 1, 3)
    assert sampler.rate == 1 / 4
    assert sampler.prior == 1 / 5


@pytest.mark.parametrize(
    ("target", "positives", "negatives", "message"),
    [
        ([0, 0], 1, 1, "target must contain both classes, got no positives"),
        ([1, 1], 1, 1, "target must contain both classes, got no negatives"),
        ([1, 0, 1], 3, 1, "positives must be at most the 2 positives in target, got 3"),
        ([1, 0, 1], 1, 2, "negatives must be at most the 1 negatives in target, got 2"),
        ([1, 0], 0, 1, "positives must be a whole number >= 1, got 0"),
        ([1, 0], 1, 0.5, "negatives must be a whole number >= 1, got 0.5"),
        ([1, 2], 1, 1, "target must contain only 0 and 1"),
    ],
)
def test_bad_input(target, positives, negatives, message):
    with pytest.raises(ValueError, match=message):
        BalancedBatches(target, positives, negatives)
