from __future__ import annotations

import pytest
import torch

from rankwise.baselines import Triplet

SCORES, TARGET = torch.tensor([0.9, 0.2, 0.7, 0.15, -0.3]), torch.tensor([1, 1, 0, 0, 0])


def test_triplet_worked_by_hand():
    total = (0.1 - 0.2 + 0.7) + (0.1 - 0.2 + 0.15)  # the positive .9 is beyond the margin
    torch.testing.assert_close(Triplet(0.1)(SCORES, TARGET), torch.tensor(total / 6))
    violating = Triplet(0.1, violating_only=True)
    torch.testing.assert_close(violating(SCORES, TARGET), torch.tensor(total / 2))


def test_no_violating_triplet_is_no_loss():
    scores = torch.tensor([5.0, 4.0, -1.0, -2.0], requires_grad=True)
    value = Triplet(violating_only=True)(scores, torch.tensor([1, 1, 0, 0]))
    value.backward()
    assert value == 0
    assert (scores.grad == 0).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Triplet(0.0), "margin must be a finite number > 0, got 0.0"),
    ],
)
def test_bad_options_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
