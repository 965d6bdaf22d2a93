"""SmoothAP beyond the shared table: long lists on the engine, and its limit."""

from __future__ import annotations

import pytest
import torch
from tests.baselines.cases import smooth_ap

from rankwise.baselines import SmoothAP
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
