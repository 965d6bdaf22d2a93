from __future__ import annotations

import pytest
import torch

from rankwise.baselines import ClassBalanced
from rankwise.baselines.class_weights import effective_number_weights


def test_two_classes_worked_by_hand():
    """β = ½: 1 and 2 items count as 1 and 1.5, their inverses as 1 and 2/3, of mean 5/6."""
    weights = effective_number_weights(torch.tensor([1.0, 2.0]), 0.5)
    torch.testing.assert_close(weights, torch.tensor([6 / 5, 4 / 5]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ClassBalanced((5,)), "counts must be the number of items of each of two or more"),
        (lambda: ClassBalanced((5, 0)), "counts must be .* each >= 1"),
        (lambda: ClassBalanced((5, 5), beta=1.0), r"beta must be in \[0, 1\), got 1.0"),
    ],
)
def test_bad_options_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
