from __future__ import annotations

import pytest
import torch
from torch import Tensor

from rankwise.objectives import AveragePrecision, _scaled
from rankwise.objectives._batch import Batch
from rankwise.objectives._scaled import measure


def alone(value: Tensor) -> Tensor:
    """What a number is over all processes, where there is one."""
    return value


def lists(seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    scores = 3 * torch.randn(4, 25, dtype=torch.float64, generator=generator) + 7
    return scores, torch.rand(4, 25, generator=generator) < 0.3


def test_the_variance_of_lists_with_weights_and_masks():
    scores = torch.tensor([[1.0, 3.0, 9.0], [2.0, 2.0, 2.0], [5.0, 6.0, 7.0]])
    mask = torch.tensor([[True, True, False], [True, True, True], [False, False, False]])
    weight = torch.tensor([[1.0, 3.0, 1.0]]).expand(3, 3)
    found = measure([Batch(scores, torch.zeros_like(scores), mask, weight)], alone)
    assert found.variance.item() == pytest.approx(0.25 * 1.5**2 + 0.75 * 0.5**2)
    assert found.lists.item() == 2
    assert found.means[0][0].tolist() == [[2.5], [2], [0]]


def test_the_variance_of_lists_as_they_are():
    scores = torch.tensor([[1e4 + 1, 1e4 + 3], [2.0, 2.0]])
    found = measure([Batch(scores, torch.zeros_like(scores))] * 2, alone)
    assert found.variance.item() == 2 * 1
    assert found.lists.item() == 4
    assert [mean.tolist() for (mean,) in found.means] == 2 * [[[1e4 + 2], [2]]]
    assert measure([Batch(scores[:0], scores[:0])], alone).lists.item() == 0


def test_the_gradient_is_that_of_a_loss_divided_by_the_spread():
    scores, target = lists()
    scores.requires_grad_()
    value = AveragePrecision(0.1, gain="fixed")(scores, target)
    spread = scores.var(-1, correction=0).mean().sqrt()  # with its gradient
    fixed = AveragePrecision(0.1, gain="fixed", score_scale=1.0)
    expected = fixed(scores / spread, target)
    torch.testing.assert_close(value, expected)
    torch.testing.assert_close(
        torch.autograd.grad(value, scores)[0], torch.autograd.grad(expected, scores)[0]
    )


def test_masks_and_weights_have_their_part():
    scores, target = lists(1)
    mask = torch.arange(25) < torch.tensor([[25], [20], [15], [25]])
    weight = torch.arange(100).reshape(4, 25) % 3 + 1.0
    leaf = scores.clone().requires_grad_()
    loss = AveragePrecision(0.1, gain="fixed")
    value = loss(leaf, target, mask=mask, weight=weight)
    (gradient,) = torch.autograd.grad(value, leaf)
    share = weight * mask / (weight * mask).sum(-1, keepdim=True)
    other = scores.clone().requires_grad_()
    center = (share * other).sum(-1, keepdim=True)
    spread = (share * (other - center) ** 2).sum(-1).mean().sqrt()
    fixed = AveragePrecision(0.1, gain="fixed", score_scale=1.0)
    expected = fixed(other / spread, target, mask=mask, weight=weight)
    torch.testing.assert_close(gradient, torch.autograd.grad(expected, other)[0])


def test_ragged_lists_share_one_spread():
    scores, target = lists(2)
    groups = torch.arange(4).repeat_interleave(25)
    cut = torch.cat([torch.arange(100)[:60], torch.arange(100)[75:85]])  # 25, 25, 10 and 10 items
    flat = scores.flatten()[cut].clone().requires_grad_()
    value = AveragePrecision(0.1)(flat, target.flatten()[cut], groups=groups[cut])
    (gradient,) = torch.autograd.grad(value, flat)
    # The loss does not depend on the size of the scores: no gradient along them.
    centered = flat.detach().clone()
    for group in range(4):
        inside = groups[cut] == group
        centered[inside] -= centered[inside].mean()
    assert abs(float((gradient * centered).sum())) < 1e-12 * float(gradient.abs().sum())
    assert gradient.abs().sum() > 0


@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_of_lists_have_the_spread_and_gradient_of_the_whole(weighted, monkeypatch):
    scores, target = lists(3)
    weight = torch.arange(100).reshape(4, 25) % 3 + 1.0 if weighted else None

    def found() -> tuple[Tensor, Tensor]:
        leaf = scores.clone().requires_grad_()
        value = AveragePrecision(0.1)(leaf, target, weight=weight)
        return value, *torch.autograd.grad(value, leaf)

    whole = found()
    monkeypatch.setattr(_scaled, "_BLOCK_ITEMS", 30)
    batch = Batch(scores, torch.zeros_like(scores), None, weight)
    assert [len(mean) for mean in measure([batch], alone).means[0]] == [1] * 4
    torch.testing.assert_close(found(), whole)


def test_scores_without_a_spread_keep_their_gradient():
    scores = torch.full((1, 4), 2.0, requires_grad=True)
    batches = [Batch(scores, torch.zeros(1, 4))]
    (same,), _ = AveragePrecision().rescale(batches)
    (gradient,) = torch.autograd.grad((same.scores * torch.arange(4.0)).sum(), scores)
    assert gradient.tolist() == [[0, 1, 2, 3]]


def test_a_long_training_does_not_shrink_the_model():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(400, 3, generator=generator)
    y = x[:, 0] + torch.randn(400, generator=generator) > 1.5
    weights = torch.tensor([0.5, 0.5, 0.5], requires_grad=True)
    loss, optimizer = AveragePrecision(), torch.optim.Adam([weights], lr=0.1)
    for _ in range(200):
        optimizer.zero_grad()
        loss(x @ weights, y).backward()
        optimizer.step()
    assert weights.norm() > 0.8
    assert weights[0] > 3 * weights[1:].abs().max()
