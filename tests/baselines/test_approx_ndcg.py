"""ApproxNDCG by hand, and that it nears the metric as its sigmoids sharpen."""

from __future__ import annotations

import math

import pytest
import torch

from rankwise.baselines.approx_ndcg import ApproxNDCG
from rankwise.metrics import ndcg


def test_by_hand():
    scores, target = torch.tensor([0.0, math.log(3)]), torch.tensor([1, 0])
    value = ApproxNDCG(temperature=1.0)(scores, target)
    assert value.item() == pytest.approx(1 - 1 / math.log2(2 + 3 / 4), rel=1e-6)


@pytest.mark.parametrize("gain", ["exponential", "linear"])
def test_it_is_the_metric_in_the_limit(gain):
    torch.manual_seed(0)
    scores, target = torch.randn(5, 20, dtype=torch.float64), torch.randint(0, 4, (5, 20))
    value = ApproxNDCG(1e-5, gain)(scores, target)
    torch.testing.assert_close(value, 1 - ndcg(scores, target, gain=gain), rtol=1e-4, atol=1e-5)


def test_a_bad_temperature_is_named():
    with pytest.raises(ValueError, match="temperature must be a finite number > 0, got 0"):
        ApproxNDCG(0.0)
