from __future__ import annotations

import pytest
import torch
from tests.baselines.cases import smooth_ap

from rankwise.baselines import BlackBoxAP, SmoothAP
from rankwise.metrics import average_precision


def test_long_lists_are_summed_without_all_pairs():
    torch.manual_seed(0)
    scores = torch.rand(1_500, dtype=torch.float64, requires_grad=True)
    target = torch.rand(1_500) < 0.3
    value, expected = SmoothAP()(scores, target), smooth_ap(scores, target)
    torch.testing.assert_close(value, expected, rtol=1e-6, atol=1e-7)
    (a,), (b,) = torch.autograd.grad(value, scores), torch.autograd.grad(expected, scores)
    torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-7)


def test_with_a_small_tau_it_is_the_metric():
    torch.manual_seed(1)
    scores, target = torch.randn(200, dtype=torch.float64), torch.rand(200) < 0.2
    torch.testing.assert_close(
        SmoothAP(1e-8)(scores, target), 1 - average_precision(scores, target)
    )


def test_tau_must_be_positive():
    with pytest.raises(ValueError, match="tau must be a finite number > 0, got 0"):
        SmoothAP(0)


def test_without_a_margin_it_is_the_metric_ties_and_all():
    torch.manual_seed(0)
    scores = torch.randint(0, 15, (100,)).double()
    target = torch.rand(100) < 0.3
    loss = BlackBoxAP(margin=0.0)
    torch.testing.assert_close(loss(scores, target), 1 - average_precision(scores, target))


def test_the_margin_is_between_positives_and_negatives():
    scores, target = torch.tensor([0.30, 0.28, 0.20]), torch.tensor([1, 0, 0])
    assert BlackBoxAP(margin=0.01)(scores, target) == 0
    torch.testing.assert_close(BlackBoxAP(margin=0.05)(scores, target), torch.tensor(0.5))


def test_one_step_worked_by_hand():
    """s⁺ = 0 below s⁻ = 1 and .5: rank 3/3, g = (1/3)/1² = 1/3; s⁺ + 4/3 is first.

    Its rank falls by 2/3, the negatives' ranks rise by 1/3 each: divided by λ = 4.
    """
    scores = torch.tensor([0.0, 1.0, 0.5], dtype=torch.float64, requires_grad=True)
    value = BlackBoxAP(margin=0.0)(scores, torch.tensor([1, 0, 0]))
    torch.testing.assert_close(value.item(), 2 / 3)
    (gradient,) = torch.autograd.grad(value, scores)
    torch.testing.assert_close(gradient.tolist(), [-2 / 12, 1 / 12, 1 / 12])


def test_a_scaled_loss_scales_the_gradient():
    torch.manual_seed(1)
    scores = torch.randn(50, dtype=torch.float64, requires_grad=True)
    value = BlackBoxAP()(scores, torch.rand(50) < 0.3)
    (plain,) = torch.autograd.grad(value, scores, retain_graph=True)
    (scaled,) = torch.autograd.grad(1024 * value, scores)
    torch.testing.assert_close(scaled, 1024 * plain)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(lam=0.0), "lam must be a finite number > 0, got 0.0"),
        (dict(margin=-1.0), "margin must be a finite number >= 0, got -1.0"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        BlackBoxAP(**options)
