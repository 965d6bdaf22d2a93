from __future__ import annotations

import copy

import pytest
import torch

from rankwise.baselines import LDAM


def test_ldam_reweights_from_its_epoch_on_and_resumes():
    torch.manual_seed(1)
    logits, target = torch.randn(20, 3), torch.randint(0, 3, (20,))
    loss, plain = LDAM((300, 20, 10), defer=160), LDAM((300, 20, 10))
    loss.set_epoch(159)
    torch.testing.assert_close(loss(logits, target), plain(logits, target), rtol=0, atol=0)
    loss.set_epoch(160)
    assert loss.reweights
    assert loss(logits, target) != plain(logits, target)
    resumed = LDAM((300, 20, 10), defer=160)
    resumed.load_state_dict(loss.state_dict())
    for other in (resumed, copy.deepcopy(loss)):
        torch.testing.assert_close(other(logits, target), loss(logits, target), rtol=0, atol=0)
    plain.set_epoch(1_000)
    assert not plain.reweights


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LDAM((5,)), "counts must be the number of items"),
        (lambda: LDAM((5, 5), max_margin=0.0), "max_margin must be a finite number > 0"),
        (lambda: LDAM((5, 5), scale=-1.0), "scale must be a finite number > 0"),
        (lambda: LDAM((5, 5), defer=-1), "defer must be a whole number >= 0, got -1"),
        (lambda: LDAM((5, 5)).set_epoch(-1), "epoch must be a whole number >= 0, got -1"),
    ],
)
def test_bad_options_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
