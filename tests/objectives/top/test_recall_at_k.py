"""RecallAtK in the limit of small temperatures, by hand, and with weights."""

from __future__ import annotations

import math

import pytest
import torch

from rankwise.objectives.top import RecallAtK


def logistic(x):
    return 1 / (1 + math.exp(-x))


def test_by_hand():
    scores, target = torch.tensor([0.3, 0.1, 0.2], dtype=torch.float64), torch.tensor([1, 1, 0])
    first = logistic(-2) + logistic(-1)  # what is above the item at .3, at a temperature of .1
    second = logistic(2) + logistic(1)
    within = {k: logistic(k - 1 - first) + logistic(k - 1 - second) for k in (1, 2)}
    for k, norm in ((1, 1), (2, 2)):
        value = RecallAtK(k, tau=0.1)(scores, target)
        assert float(value) == pytest.approx(1 - within[k] / norm, rel=1e-6)
    both = RecallAtK((1, 2), tau=0.1)(scores, target)
    assert float(both) == pytest.approx(1 - (within[1] / 1 + within[2] / 2) / 2, rel=1e-6)


@pytest.mark.parametrize("k", [1, 4, 9, 30])
def test_small_temperatures_count_ranks_and_half_of_the_one_at_k(k):
    torch.manual_seed(k)
    scores, target = torch.randperm(50).double(), torch.rand(50) < 0.3
    ranks = [1 + int((scores > s).sum()) for s in scores[target]]
    found = sum((r < k) + 0.5 * (r == k) for r in ranks) / min(k, len(ranks))
    value = RecallAtK(k, tau_k=1e-3, tau=1e-3)(scores, target)
    assert float(value) == pytest.approx(1 - found, abs=1e-6)


def test_recall_is_never_more_than_all():
    scores, target = torch.zeros(40), torch.arange(40) < 39
    # 39 positives, each within the first 2 by about a half at this temperature: 2 is all there is.
    loss = RecallAtK(2, tau_k=1e4, tau=1.0)
    assert float(loss(scores, target)) == 0


def test_weight_two_counts_twice_and_two_halves_as_one():
    torch.manual_seed(1)
    scores, target = torch.randn(40, dtype=torch.float64), torch.rand(40) < 0.4
    weight = torch.randint(0, 4, (40,))
    times = torch.repeat_interleave(torch.arange(40), weight)
    loss = RecallAtK((2, 9), tau=0.2)
    expected = loss(scores[times], target[times])
    torch.testing.assert_close(loss(scores, target, weight=weight.double()), expected)
    halves = loss(scores.repeat(2), target.repeat(2), weight=torch.full((80,), 0.5))
    torch.testing.assert_close(halves, loss(scores, target))


def test_gradcheck():
    torch.manual_seed(2)
    scores = torch.randn(10, dtype=torch.float64, requires_grad=True)
    target = torch.arange(10) < 4
    loss = RecallAtK((1, 3), tau=0.7)
    assert torch.autograd.gradcheck(lambda s: loss(s, target), (scores,), atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(k=0), "k must be a whole number >= 1, got 0"),
        (dict(k=(1, 2.5)), "k must be a whole number >= 1, got 2.5"),
        (dict(k=()), "k must be a whole number >= 1 or several of them, got none"),
        (dict(k=1, tau=0.0), "tau must be a finite number > 0, got 0.0"),
        (dict(k=1, tau_k=-1.0), "tau_k must be a finite number > 0, got -1.0"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        RecallAtK(**options)
