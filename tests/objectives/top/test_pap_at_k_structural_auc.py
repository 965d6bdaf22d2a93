"""Eq. 4 of the pAp@k paper, by its definition: the largest over all orderings of a list."""

from __future__ import annotations

from itertools import permutations

import pytest
import torch

from rankwise.objectives import PairwiseAUC
from rankwise.objectives.top import PApAtK
from rankwise.pairs import Hinge


def structural(positives, negatives):
    """max over π of Δ(π) − wᵀ(φ(π*) − φ(π))/n⁺n⁻, π of every order of the items."""
    items = [("p", i) for i in range(len(positives))] + [("n", j) for j in range(len(negatives))]
    best = -float("inf")
    for order in permutations(items):
        place = {item: rank for rank, item in enumerate(order)}
        value = 0.0
        for i, s in enumerate(positives):
            for j, z in enumerate(negatives):
                below = place["p", i] > place["n", j]
                value += below - (1 - (1 - below)) * (s - z)
        best = max(best, value)
    return best / (len(positives) * len(negatives))


@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_mean_hinge_over_all_pairs(seed):
    torch.manual_seed(seed)
    scores, target = 2 * torch.randn(6, dtype=torch.float64), torch.tensor([1, 0, 1, 0, 1, 0])
    expected = structural(scores[target == 1].tolist(), scores[target == 0].tolist())
    assert float(PairwiseAUC(Hinge(1.0))(scores, target)) == pytest.approx(expected)


def test_ramp_is_the_same_where_k_leaves_nothing_out_and_tells_more_where_it_does():
    torch.manual_seed(0)
    scores, target = torch.randn(40, dtype=torch.float64), torch.arange(40) < 12
    whole = PairwiseAUC(Hinge(1.0))(scores, target)
    for surrogate in ("ramp", "max", "ts"):
        torch.testing.assert_close(PApAtK(40, surrogate, score_scale=1)(scores, target), whole)
    # The best two of each are the other way round: most pairs are right, none at the top is.
    positives, negatives = [9.0, 8.0, 7.0, 6.0, 5.0], [10.0, 10.0, *[-9.0] * 20]
    scores, target = torch.tensor(positives + negatives), torch.arange(27) < 5
    assert float(PairwiseAUC(Hinge(1.0))(scores, target)) < 0.5
    assert float(PApAtK(2, "ramp", score_scale=1)(scores, target)) == pytest.approx((2 + 3) / 2)
