"""Losses in units of the spread of the scores, whatever the loss is."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from rankwise.lists import Lists
from rankwise.objectives._scaled import ScaledObjective


class Gap(ScaledObjective):
    """How far the mean negative is above the mean positive."""

    def risk(self, lists: Lists) -> Tensor:
        return lists.mean_over_negatives(lists.negatives) - lists.mean_over_positives(
            lists.positives
        )


SCORES = torch.tensor([[1.0, 5.0, 2.0, 0.0], [4.0, 1.0, 7.0, 3.0]], dtype=torch.float64)
TARGET = torch.tensor([[1, 0, 0, 1], [0, 1, 0, 1]])


def test_a_number_divides_the_scores():
    assert float(Gap(2.0)(SCORES, TARGET)) == pytest.approx(float(Gap(1.0)(SCORES, TARGET)) / 2)


def test_auto_divides_by_the_root_of_the_mean_variance():
    spread = SCORES.var(-1, correction=0).mean().sqrt()
    assert float(Gap("auto")(SCORES, TARGET)) == pytest.approx(
        float(Gap(1.0)(SCORES, TARGET) / spread)
    )


def test_the_gradient_of_auto_is_that_of_the_whole():
    assert torch.autograd.gradcheck(
        lambda s: Gap("auto")(s, TARGET), SCORES.clone().requires_grad_()
    )


@pytest.mark.parametrize("running", [False, True])
def test_one_list_has_the_value_and_gradient_of_the_general_path(running):
    def step(**given: Tensor) -> tuple[Tensor, Tensor]:
        scores = (100 + SCORES[:1]).requires_grad_()
        value = Gap("auto", running=running)(scores, TARGET[:1], **given)
        return value, torch.autograd.grad(value, scores)[0]

    mask = torch.ones(1, 4, dtype=torch.bool)  # masked lists take the general path
    for plain, general in zip(step(), step(mask=mask), strict=True):
        torch.testing.assert_close(plain, general)
    assert torch.autograd.gradcheck(
        lambda s: Gap("auto")(s, TARGET[:1]), SCORES[:1].clone().requires_grad_()
    )


def test_equal_scores_are_divided_by_1():
    scores = torch.full((1, 4), 3.0, requires_grad=True)
    value = Gap("auto")(scores, TARGET[:1])
    (slope,) = torch.autograd.grad(value, scores)
    assert value.item() == 0
    assert slope.tolist() == [[-0.5, 0.5, 0.5, -0.5]]


def test_a_running_spread_is_a_buffer_and_follows_slowly():
    loss = Gap("auto", running=True)
    loss(SCORES, TARGET)
    first = float(loss.spread.value)
    loss(10 * SCORES, TARGET)
    assert first < float(loss.spread.value) < 50 * first
    assert "spread.value" in loss.state_dict()


def test_a_scale_that_is_none_is_refused():
    with pytest.raises(ValueError, match="score_scale must be a finite number > 0, got 0"):
        Gap(0)
