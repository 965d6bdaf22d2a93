from __future__ import annotations

import pytest
import torch

from rankwise.baselines.precision import widened
from rankwise.lists import split_lists


@pytest.mark.parametrize(
    ("given", "wide"),
    [
        (torch.float16, torch.float32),
        (torch.bfloat16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
    ],
)
def test_half_is_widened_and_nothing_else_changes(given, wide):
    scores = torch.tensor([[1.0, 2.0, 3.0]], dtype=given)
    lists = widened(split_lists(scores, torch.tensor([[1, 0, 1]])))
    assert lists.positives.dtype == lists.negatives.dtype == wide
    assert lists.positives.tolist() == [[1, 3]]
    assert lists.negatives.tolist() == [[2]]
