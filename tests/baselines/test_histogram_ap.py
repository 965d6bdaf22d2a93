from __future__ import annotations

import pytest
import torch

from rankwise.baselines import FastAP, HistogramAP
from rankwise.metrics import average_precision


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
def test_bad_options_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
