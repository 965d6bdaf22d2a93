from __future__ import annotations

import math

import pytest
import torch

from rankwise.memory import FollowedAverage


def learn(average: FollowedAverage) -> None:
    ids = torch.cat([ids for ids, _ in average.pending])
    average.take_in_pending(ids, torch.cat([columns for _, columns in average.pending]))
    average.pending.clear()


def seen_once(rate: float, value: float, log: bool = False) -> FollowedAverage:
    average = FollowedAverage(3, ema_rate=rate, log=log)
    average(torch.tensor([1]), torch.tensor([[value]]))
    return average


def test_the_value_is_that_of_the_average_and_the_gradient_that_of_the_estimate():
    average = seen_once(0.25, 8.0)
    x = torch.tensor([[2.0]], requires_grad=True)
    u = average.follow(torch.tensor([1]), x**2, torch.tensor([True]))
    assert u.item() == 0.75 * 8 + 0.25 * 4
    (gradient,) = torch.autograd.grad(u.log().sum(), x)
    assert gradient.item() == pytest.approx(1 / 7 * 2 * 2)  # f′(u)·dĝ/dx
    assert average.value[1].item() == 8  # nothing learned before all estimates were followed
    learn(average)
    assert average.value[1].item() == 7


def test_logarithms_give_the_gradient_of_what_they_are_of():
    average = seen_once(0.25, math.log(8.0), log=True)
    x = torch.tensor([[2.0]], requires_grad=True)
    log_u = average.follow(torch.tensor([1]), (x**2).log(), torch.tensor([True]))
    assert log_u.item() == pytest.approx(math.log(7))
    (gradient,) = torch.autograd.grad(log_u.sum(), x)
    assert gradient.item() == pytest.approx(1 / 7 * 2 * 2)
    learn(average)
    assert average.value[1].item() == pytest.approx(math.log(7))


def test_logarithms_far_outside_the_floats_stay_finite():
    average = seen_once(0.5, 1e6, log=True)
    x = torch.tensor([[-1e6], [2e6]], requires_grad=True)
    log_u = average.follow(torch.tensor([1, 1]), x, torch.tensor([True, True]))
    assert log_u.squeeze(1).tolist() == pytest.approx([1e6 - math.log(2), 2e6 - math.log(2)])
    (gradient,) = torch.autograd.grad(log_u.sum(), x)
    assert gradient.squeeze(1).tolist() == pytest.approx([0, 2])  # ĝ/u
    average.eval()
    (gradient,) = torch.autograd.grad(
        average.follow(torch.tensor([1]), x[1:], torch.tensor([True])).sum(), x
    )
    assert torch.isfinite(gradient).all()


def test_absent_estimates_teach_nothing():
    average = seen_once(0.5, 8.0)
    estimate = torch.tensor([[4.0], [100.0]])
    average.follow(torch.tensor([1, 1]), estimate, torch.tensor([True, False]))
    learn(average)
    assert average.value[1].item() == 6


def test_the_models_own_change_is_added_at_once():
    ids, here = torch.tensor([1]), torch.tensor([True])
    for correction, expected in ((None, 0.5), (2.0, 2.0)):
        average = FollowedAverage(3, ema_rate=0.5, correction=correction)
        average(ids, torch.tensor([[8.0]]))
        u = average.follow(ids, torch.tensor([[6.0]]), here, previous=torch.tensor([[5.0]]))
        assert u.item() == 0.5 * 8 + 0.5 * 6 + expected * (6 - 5)
        learn(average)
        assert average.value[1].item() == u.item()
