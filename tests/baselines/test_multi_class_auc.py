from __future__ import annotations

import pytest
import torch
from tests.baselines.cases import multi_class_auc

from rankwise.baselines import MultiClassAUC
from rankwise.metrics import auroc


def test_mauc_of_long_batches_keeps_its_digits():
    torch.manual_seed(2)
    logits = 1e3 + torch.randn(2_000, 3)
    target = torch.randint(0, 3, (2_000,))
    value = MultiClassAUC(softmax=False)(logits, target)
    expected = multi_class_auc(False)(logits.double(), target)
    torch.testing.assert_close(value.double(), expected, rtol=1e-4, atol=0)


def test_a_small_mauc_is_a_good_ranking():
    torch.manual_seed(3)
    target = torch.randint(0, 3, (200,))
    logits = torch.randn(200, 3, requires_grad=True)
    optimiser = torch.optim.Adam([logits], lr=0.1)
    for _ in range(60):
        optimiser.zero_grad()
        MultiClassAUC()(logits, target).backward()
        optimiser.step()
    areas = [auroc(logits.detach()[:, c], target == c) for c in range(3)]
    assert min(areas) > 0.95


def test_bad_options_are_named():
    with pytest.raises(ValueError, match="margin must be a finite number > 0, got 0"):
        MultiClassAUC(margin=0.0)
