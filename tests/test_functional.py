from __future__ import annotations

import torch

from rankwise import functional as f
from rankwise.metrics import average_precision
from rankwise.pairs import ZeroOne


def test_average_precision_from_its_parts():
    torch.manual_seed(0)
    scores, target = torch.randn(1, 50, dtype=torch.float64), torch.rand(1, 50) < 0.3
    lists = f.split_lists(scores, target)
    ratio = f.false_positive_rate(ZeroOne(), lists) / f.true_positive_rate(ZeroOne(), lists)
    loss = lists.mean_over_positives(f.saturating((1 - lists.rate) / lists.rate * ratio))
    torch.testing.assert_close(1 - loss[0], average_precision(scores[0], target[0]))


def test_everything_named_is_there():
    assert all(hasattr(f, name) for name in f.__all__)
