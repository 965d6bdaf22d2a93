from __future__ import annotations

import pytest
import torch

from rankwise.baselines import CrossEntropy, Focal


def test_focal_with_gamma_zero_is_cross_entropy():
    torch.manual_seed(4)
    scores, target = torch.randn(40), torch.rand(40) < 0.3
    torch.testing.assert_close(Focal(0.0)(scores, target), CrossEntropy()(scores, target))


@pytest.mark.parametrize("gamma", [0.0, 0.5, 2.0])
def test_focal_has_a_gradient_everywhere(gamma):
    scores = torch.tensor([1e4, -1e4, 0.0], requires_grad=True)
    Focal(gamma)(scores, torch.ones(3)).backward()
    assert scores.grad.isfinite().all()
    assert scores.grad[1] < 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Focal(-1.0), "gamma must be a finite number >= 0, got -1.0"),
        (lambda: Focal(alpha=1.0), "alpha must be None or between 0 and 1, got 1.0"),
    ],
)
def test_bad_options_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
