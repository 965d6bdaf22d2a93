from __future__ import annotations

import pytest
import torch

from rankwise.baselines import Contrastive

SCORES, TARGET = torch.tensor([0.9, 0.2, 0.7, 0.15, -0.3]), torch.tensor([1, 1, 0, 0, 0])


def test_contrastive_worked_by_hand():
    expected = ((1 - 0.9) + (1 - 0.2) + (0.7 - 0.5)) / 5
    torch.testing.assert_close(Contrastive()(SCORES, TARGET), torch.tensor(expected))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Contrastive(float("nan")), "margin must be a finite number, got nan"),
    ],
)
def test_bad_options_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
