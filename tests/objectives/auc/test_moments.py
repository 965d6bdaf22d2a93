from __future__ import annotations

import pytest
import torch

from rankwise.lists import split_lists
from rankwise.objectives.auc._moments import class_moments


def moments(scores, target, weight=None):
    return class_moments(
        split_lists(scores, target, weight=weight, whole_positives=True, whole_negatives=True)
    )


def test_two_positives_and_two_negatives_by_hand():
    scores, target = torch.tensor([[2.0, 0.0, 1.0, 1.5]]), torch.tensor([[1, 0, 0, 1]])
    above, below, spread = moments(scores, target, torch.tensor([[3.0, 1.0, 1.0, 1.0]]))
    mean = (3 * 2 + 1.5) / 4
    assert above.tolist() == [mean]
    assert below.tolist() == [0.5]
    variances = (3 * (2 - mean) ** 2 + (1.5 - mean) ** 2) / 4 + 0.25
    torch.testing.assert_close(spread, torch.tensor([variances]))


@pytest.mark.parametrize("offset", [0.0, 1e4, -3e6])
def test_values_and_gradients_are_those_of_the_two_classes_apart(offset):
    torch.manual_seed(0)
    target, weight = torch.rand(3, 40).round(), torch.rand(3, 40, dtype=torch.float64)
    scores = (torch.randn(3, 40, dtype=torch.float64) + offset).requires_grad_()
    wanted = []
    for mass in (weight * target, weight * (1 - target)):
        share = mass / mass.sum(-1, keepdim=True)
        mean = (share * scores).sum(-1)
        wanted += [mean, (share * (scores - mean.unsqueeze(-1)) ** 2).sum(-1)]
    above, below, spread = moments(scores, target, weight)
    torch.testing.assert_close(above, wanted[0])
    torch.testing.assert_close(below, wanted[2])
    torch.testing.assert_close(spread, wanted[1] + wanted[3], rtol=1e-7, atol=1e-7)
    for ours, known in ((above, wanted[0]), (below, wanted[2]), (spread, wanted[1] + wanted[3])):
        found, right = (
            torch.autograd.grad(v.square().sum(), scores, retain_graph=True)[0]
            for v in (ours, known)
        )
        torch.testing.assert_close(found, right, rtol=1e-6, atol=1e-8 * max(1, abs(offset)))


def test_far_classes_without_spread_have_none():
    scores = torch.tensor([[1e4, -1e4, 1e4, -1e4, 1e4]])
    assert moments(scores, torch.tensor([[1, 0, 1, 0, 1]]))[2].item() == 0


def test_differentiable_twice():
    scores = torch.randn(2, 6, dtype=torch.float64, requires_grad=True)
    target = torch.tensor([[1, 0, 0, 1, 0, 0], [0, 1, 1, 1, 0, 1]])
    assert torch.autograd.gradcheck(lambda s: moments(s, target), scores)
    assert torch.autograd.gradgradcheck(lambda s: moments(s, target), scores)
