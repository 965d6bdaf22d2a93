from __future__ import annotations

import pytest
import torch

from rankwise.baselines import MultiSimilarity

SCORES, TARGET = torch.tensor([0.9, 0.2, 0.7, 0.15, -0.3]), torch.tensor([1, 1, 0, 0, 0])


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
def test_bad_options_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
