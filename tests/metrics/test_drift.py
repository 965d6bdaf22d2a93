import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from rankwise.metrics import population_stability_index

numbers = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=40)


def by_hand(before, after, bins):
    """Count the scores between the edges one by one."""
    ordered, n = sorted(before), len(before)
    ends = {ordered[math.ceil(n * b / bins) - 1] for b in range(1, bins)} - {ordered[-1]}
    edges = [-math.inf, *sorted(ends), math.inf]
    total = 0.0
    for low, high in pairwise(edges):
        p, q = (
            (sum(low < s <= high for s in part) + 0.5) / (len(part) + 0.5 * (len(edges) - 1))
            for part in (before, after)
        )
        total += (q - p) * math.log(q / p)
    return total


@settings(max_examples=60, deadline=None)
@given(numbers, numbers, st.sampled_from([2, 4, 10]))
def test_equal_to_a_count_of_every_bin(before, after, bins):
    found = population_stability_index(np.array(before), np.array(after), bins=bins)
    assert found == pytest.approx(by_hand(before, after, bins), abs=1e-12)


def test_without_a_change_it_is_as_small_as_chance_makes_it():
    rng = np.random.default_rng(0)
    n, m = 2000, 1000
    found = [population_stability_index(rng.normal(size=n), rng.normal(size=m)) for _ in range(300)]
    scale = 1 / n + 1 / m
    assert np.mean(found) == pytest.approx(9 * scale, rel=0.15)
    assert np.mean(np.array(found) > chi2.ppf(0.95, 9) * scale) == pytest.approx(0.05, abs=0.04)


def test_only_the_order_of_the_scores_matters():
    rng = np.random.default_rng(1)
    before, after = rng.normal(size=500), rng.normal(size=400) + 0.5
    found = population_stability_index(before, after)
    assert population_stability_index(np.exp(before), np.exp(after)) == pytest.approx(found)
    tensors = torch.tensor(before), torch.tensor(after)
    assert population_stability_index(*tensors) == pytest.approx(found)
    assert found > 0.1


def test_what_is_refused():
    one = np.array([1.0, 2.0])
    with pytest.raises(ValueError, match="after must hold scores without NaN, got 0 values"):
        population_stability_index(one, np.array([]))
    with pytest.raises(ValueError, match="before must hold scores without NaN, got 2 values"):
        population_stability_index(np.array([1, math.nan]), one)
    with pytest.raises(ValueError, match="bins must be at least 2, got 1"):
        population_stability_index(one, one, bins=1)
