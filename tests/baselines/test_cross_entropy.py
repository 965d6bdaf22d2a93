from __future__ import annotations

import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from rankwise.baselines import ClassBalanced, CrossEntropy


def test_cross_entropy_is_that_of_torch():
    torch.manual_seed(0)
    scores, target = torch.randn(4, 30), torch.rand(4, 30) < 0.3
    expected = binary_cross_entropy_with_logits(scores, target.float())
    torch.testing.assert_close(CrossEntropy()(scores, target), expected)


def test_class_balanced_between_plain_and_inverse_frequency():
    torch.manual_seed(3)
    scores, target = torch.randn(40), torch.rand(40) < 0.3
    plain = ClassBalanced((90, 10), beta=0.0)(scores, target)
    torch.testing.assert_close(plain, CrossEntropy()(scores, target))
    inverse = ClassBalanced((90, 10), beta=1 - 1e-9).class_weight
    torch.testing.assert_close(inverse, torch.tensor([0.2, 1.8]).double(), rtol=1e-4, atol=0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ClassBalanced((5, 5, 5)), "counts must be two"),
    ],
)
def test_bad_options_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
