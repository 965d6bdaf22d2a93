"""Every argument is checked before anything is computed, and named when it does not fit."""

from __future__ import annotations

import pytest
import torch

from rankwise.objectives import SOAP, SOPRC, AveragePrecision, Objective, StableAP, XRisk
from rankwise.objectives._batch import CallArguments
from rankwise.pairs import SquaredHinge

NAN = float("nan")
SCORES, TARGET = torch.tensor([[0.5, 2.0, -1.0], [0.0, 1.0, 3.0]]), torch.tensor([[0, 1, 0]] * 2)
ABSENT = torch.tensor([[True, True, False]] * 2)  # the last item


class Loss(Objective):
    uses_previous_scores = True

    def risk(self, lists):
        raise NotImplementedError


def check(scores=SCORES, target=TARGET, *, memory_by=None, memory_size=1, **beside):
    names = ("mask", "groups", "weight", "list_ids", "item_ids", "previous_scores")
    given = CallArguments(*(beside.get(name) for name in names))
    loss = Loss()
    loss.memory_by, loss.memory_size = memory_by, memory_size
    return loss.check(scores, target, given)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(scores=SCORES.numpy()), "scores must be a torch.Tensor, got ndarray; pass torch"),
        (dict(target=[0, 1]), "target must be a torch.Tensor, got list"),
        (dict(scores=SCORES.long()), "scores must be a floating-point tensor, got torch.int64"),
        (dict(scores=torch.tensor(1.0)), "at least one dimension, the list, got one number"),
        (dict(target=TARGET[:1]), r"got target \(1, 3\) and scores \(2, 3\)"),
        (dict(target=TARGET.to("meta")), "target is on meta but scores is on cpu"),
        (
            dict(scores=SCORES.to("meta"), target=TARGET.to("meta")),
            "scores must hold values, got a tensor on the meta device",
        ),
        (dict(mask=ABSENT.int()), "mask must be boolean, got torch.int32; pass mask.bool()"),
        (dict(weight=torch.ones(3)), r"got weight \(3,\) and scores \(2, 3\)"),
        (dict(weight=-SCORES), "weight must not be negative, got -3"),
        (dict(weight=SCORES.abs() / 0), "weight contains NaN"),
        (dict(weight=torch.full((2, 3), torch.inf)), r"weight contains infinite values \(6 of 6\)"),
        (dict(groups=TARGET), r"groups is for one-dimensional scores, got shape \(2, 3\)"),
        (dict(groups=TARGET > 0), "groups must hold integers, got torch.bool; pass groups.long"),
        (
            dict(memory_by="list", memory_size=4),
            "list_ids is needed: Loss remembers 4 lists; pass the id of",
        ),
        (
            dict(memory_by="item", item_ids=torch.arange(2)),
            r"got item_ids \(2,\) and scores \(2, 3\)",
        ),
        (
            dict(memory_by="list", list_ids=torch.arange(3)),
            r"one id per list, shape \(2,\), got \(3,\)",
        ),
        (
            dict(memory_by="list", list_ids=torch.arange(2)),
            "list_ids must lie between 0 and 0, got values",
        ),
        (
            dict(memory_by="list", list_ids=torch.zeros(2)),
            "list_ids must hold integers, got torch.float32",
        ),
        (dict(previous_scores=TARGET), "previous_scores must be a floating-point tensor"),
        (dict(previous_scores=SCORES[0]), r"got previous_scores \(3,\) and scores \(2, 3\)"),
        (dict(previous_scores=SCORES / 0), "previous_scores contains"),
    ],
)
def test_what_does_not_fit_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        check(**arguments)


def test_masked_items_may_hold_anything():
    assert not check(mask=ABSENT)
    assert check(SCORES.masked_fill(~ABSENT, NAN), mask=ABSENT)
    assert check(target=TARGET.masked_fill(~ABSENT, -100), mask=ABSENT)
    assert check(weight=SCORES.abs().masked_fill(~ABSENT, NAN), mask=ABSENT)
    assert not check(previous=SCORES.masked_fill(~ABSENT, NAN), mask=ABSENT)
    with pytest.raises(ValueError, match="scores contains NaN"):
        check(SCORES.masked_fill(ABSENT, NAN), mask=ABSENT)


def test_a_weight_that_is_masked_may_be_nan_and_changes_nothing():
    for make in (AveragePrecision, lambda: SOPRC(0.3)):
        weight = torch.tensor([[1.0, 2.0, 3.0]] * 2)
        value = make()(SCORES, TARGET, mask=ABSENT, weight=weight.masked_fill(~ABSENT, NAN))
        assert torch.equal(value, make()(SCORES, TARGET, mask=ABSENT, weight=weight))


@pytest.mark.parametrize(
    "make",
    [
        lambda: StableAP(0.3),
        lambda: StableAP(0.3, score_scale=1.0),
        lambda: XRisk(SquaredHinge(1.0), torch.sqrt),
    ],
)
def test_previous_scores_are_numbers_for_the_negatives_too(make):
    earlier = SCORES.masked_fill(TARGET == 0, NAN)
    with pytest.raises(ValueError, match="previous_scores contains NaN"):
        make()(SCORES, TARGET, previous_scores=earlier)


def test_previous_scores_are_refused_where_they_would_be_ignored():
    message = "previous_scores are for objectives that use them.*got them for AveragePrecision"
    with pytest.raises(ValueError, match=message):
        AveragePrecision()(SCORES, TARGET, previous_scores=SCORES)


@pytest.mark.parametrize("make", [AveragePrecision, lambda: SOPRC(0.1), lambda: SOAP(0.1, 6)])
def test_labels_passed_as_scores_are_refused_at_the_automatic_scale(make):
    """The automatic scale divides first, and a quotient of integers is a floating-point number."""
    ids = {"item_ids": torch.arange(6).reshape(2, 3)} if make().memory_by == "item" else {}
    with pytest.raises(ValueError, match="scores must be a floating-point tensor, got"):
        make()(TARGET, TARGET, **ids)
