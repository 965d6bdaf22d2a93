from __future__ import annotations

import pytest
import torch

from rankwise.baselines import Contrastive, MultiSimilarity, Triplet

SCORES, TARGET = torch.tensor([0.9, 0.2, 0.7, 0.15, -0.3]), torch.tensor([1, 1, 0, 0, 0])


def test_contrastive_worked_by_hand():
    expected = ((1 - 0.9) + (1 - 0.2) + (0.7 - 0.5)) / 5
    torch.testing.assert_close(Contrastive()(SCORES, TARGET), torch.tensor(expected))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Contrastive(float("nan")), "margin must be a finite number, got nan"),
    ],
)
def test_bad_options_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_triplet_worked_by_hand():
    total = (0.1 - 0.2 + 0.7) + (0.1 - 0.2 + 0.15)  # the positive .9 is beyond the margin
    torch.testing.assert_close(Triplet(0.1)(SCORES, TARGET), torch.tensor(total / 6))
    violating = Triplet(0.1, violating_only=True)
    torch.testing.assert_close(violating(SCORES, TARGET), torch.tensor(total / 2))


def test_no_violating_triplet_is_no_loss():
    scores = torch.tensor([5.0, 4.0, -1.0, -2.0], requires_grad=True)
    value = Triplet(violating_only=True)(scores, torch.tensor([1, 1, 0, 0]))
    value.backward()
    assert value == 0
    assert (scores.grad == 0).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Triplet(0.0), "margin must be a finite number > 0, got 0.0"),
    ],
)
def test_bad_options_of_triplet_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_multi_similarity_leaves_easy_pairs_out():
    """max_N = .7 keeps the positive .2 alone, min_P = .2 the negatives .7 and .15."""
    pulled = torch.log1p(torch.exp(torch.tensor(-2 * (0.2 - 0.5)))) / 2
    pushed = torch.log1p(torch.exp(50 * (torch.tensor([0.7, 0.15]) - 0.5)).sum()) / 50
    torch.testing.assert_close(MultiSimilarity()(SCORES, TARGET), pulled + pushed)


def test_multi_similarity_without_a_hard_pair_is_no_loss():
    value = MultiSimilarity()(torch.tensor([0.9, 0.8, 0.1]), torch.tensor([1, 1, 0]))
    assert value == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MultiSimilarity(alpha=0.0), "alpha must be a finite number > 0"),
        (lambda: MultiSimilarity(beta=-1.0), "beta must be a finite number > 0"),
        (lambda: MultiSimilarity(base=float("inf")), "base must be a finite number, got inf"),
    ],
)
def test_bad_options_of_multi_similarity_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
