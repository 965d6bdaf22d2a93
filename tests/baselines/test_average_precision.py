from __future__ import annotations

import pytest
import torch
from tests.baselines.cases import smooth_ap

from rankwise.baselines import BlackBoxAP, FastAP, HistogramAP, SmoothAP
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


def test_two_scores_between_two_nodes_worked_by_hand():
    """Nodes 1, 0, −1; s⁺ = .5 gives (½, ½, 0), s⁻ = 0 gives (0, 1, 0): AP = ½·1 + ½·1/2."""
    loss = HistogramAP(bins=3)
    value = loss(torch.tensor([0.5, 0.0]), torch.tensor([1, 0]))
    torch.testing.assert_close(value, torch.tensor(1 - (0.5 * 1 + 0.5 * 0.5)))
    torch.testing.assert_close(
        FastAP(bins=2)(torch.tensor([0.5, 0.0]), torch.tensor([1, 0])), value
    )


@pytest.mark.parametrize("loss", [FastAP(19), HistogramAP(20)])
def test_scores_on_the_nodes_give_the_metric_with_ties(loss):
    torch.manual_seed(0)
    scores = torch.linspace(-1, 1, 20, dtype=torch.float64)[torch.randint(0, 20, (100,))]
    target = torch.rand(100) < 0.3
    torch.testing.assert_close(loss(scores, target), 1 - average_precision(scores, target))


def test_the_range_is_an_option():
    torch.manual_seed(1)
    scores, target = torch.rand(50) * 2 - 1, torch.rand(50) < 0.3
    wide = FastAP(10, low=-5, high=5)(5 * scores, target)
    torch.testing.assert_close(wide, FastAP(10)(scores, target))


def test_scores_beyond_the_range_count_at_its_ends():
    scores = torch.tensor([7.0, 0.3, -4.0, -0.2], requires_grad=True)
    target = torch.tensor([0, 1, 1, 0])
    value = FastAP()(scores, target)
    torch.testing.assert_close(value, FastAP()(scores.detach().clamp(-1, 1), target))
    (gradient,) = torch.autograd.grad(value, scores)
    assert (gradient[[0, 2]] == 0).all()
    assert (gradient[[1, 3]] != 0).any()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FastAP(0), "bins must be a whole number >= 1, got 0"),
        (lambda: HistogramAP(1), "bins must be >= 2, one at each end of the range, got 1"),
        (lambda: FastAP(low=1.0, high=-1.0), "low and high must be finite with low < high"),
        (lambda: HistogramAP(high=float("inf")), "low and high must be finite with low < high"),
    ],
)
def test_bad_histograms_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
