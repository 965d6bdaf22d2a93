from __future__ import annotations

import pytest
import torch

from rankwise.objectives import AveragePrecision

LOSS = AveragePrecision(score_scale=1.0)


def random_lists(*shape: int) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return torch.randn(shape), torch.rand(shape) < 0.3


def test_the_mean_is_over_lists_with_both_classes():
    scores, target = random_lists(2, 4, 30)
    target[0, 1], target[1, 2] = True, False  # lists of one class
    rows = [
        LOSS(s, t)
        for s, t in zip(scores.reshape(-1, 30), target.reshape(-1, 30), strict=True)
        if 0 < t.sum() < 30
    ]
    assert len(rows) == 6
    torch.testing.assert_close(LOSS(scores, target), torch.stack(rows).mean())


def test_groups_are_lists():
    scores, target = random_lists(60)
    groups = torch.tensor([7, -1, 3])[torch.randint(0, 3, (60,))]
    rows = [LOSS(scores[groups == g], target[groups == g]) for g in (7, -1, 3)]
    torch.testing.assert_close(LOSS(scores, target, groups=groups), torch.stack(rows).mean())


def test_masked_items_are_absent():
    scores, target = random_lists(3, 40)
    mask = torch.arange(40) < 25
    garbage = scores.masked_fill(~mask, torch.inf)
    expected = LOSS(scores[:, :25], target[:, :25])
    torch.testing.assert_close(LOSS(garbage, target, mask=mask.expand(3, 40)), expected)
    flat = LOSS(
        garbage.flatten(),
        target.flatten(),
        mask=mask.repeat(3),
        groups=torch.arange(3).repeat_interleave(40),
    )
    torch.testing.assert_close(flat, expected)


@pytest.mark.parametrize("shape", [(0,), (1,), (5,), (0, 5), (3, 0)])
def test_a_batch_without_any_complete_list_gives_zero_with_a_graph(shape):
    scores = torch.randn(shape, requires_grad=True)
    with pytest.warns(RuntimeWarning, match="no list of this batch has both classes"):
        value = AveragePrecision(score_scale=1.0)(scores, torch.zeros(shape))
    assert value.item() == 0
    value.backward()
    assert scores.grad is not None
    assert (scores.grad == 0).all()


def test_autocast_does_not_reach_inside():
    scores, target = random_lists(200)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inside = LOSS(scores, target)
    torch.testing.assert_close(inside, LOSS(scores, target), rtol=0, atol=0)


def test_a_single_number_is_no_list():
    with pytest.raises(ValueError, match="scores must have at least one dimension"):
        LOSS(torch.tensor(1.0), torch.tensor(1))
