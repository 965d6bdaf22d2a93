from __future__ import annotations

import copy

import pytest
import torch

from rankwise.baselines import LDAM, ClassBalanced
from rankwise.baselines.class_balanced import effective_number_weights


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
def test_bad_options_of_ldam_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
