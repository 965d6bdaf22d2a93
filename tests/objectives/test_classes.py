from __future__ import annotations

import pytest
import torch

from rankwise.baselines import LDAM
from rankwise.objectives.auc import MultiClassAUC

LOGITS, CLASSES = torch.zeros(4, 3), torch.tensor([0, 1, 2, 2])


def test_minus_one_leaves_an_item_out():
    torch.manual_seed(0)
    logits, target = torch.randn(20, 3), torch.randint(0, 3, (20,))
    for loss in (LDAM((30, 20, 10)), MultiClassAUC()):
        left_out = loss(logits, target.masked_fill(torch.arange(20) > 11, -1))
        torch.testing.assert_close(left_out, loss(logits[:12], target[:12]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(scores=torch.zeros(4)), r"scores must have shape \(…, items, classes\), got \(4,\)"),
        (dict(scores=torch.zeros(4, 3).long()), "scores must be a floating-point tensor"),
        (dict(scores=torch.zeros(4, 2)), "scores must have 3 classes, as many as counts, got 2"),
        (dict(scores=torch.zeros(4, 5)), "scores must have 3 classes, as many as counts, got 5"),
        (dict(target=CLASSES.float()), "target must be class ids of shape"),
        (dict(target=CLASSES - 3), "target must be class ids from 0 to 2"),
        (dict(mask=torch.ones(3, dtype=torch.bool)), "mask must have the shape of target"),
        (dict(weight=-torch.ones(4)), "weight must not be negative, got -1"),
        (dict(mask=torch.ones(4)), "mask must be boolean, got torch.float32"),
        (dict(scores=[[0.0, 1.0, 2.0]]), "scores must be a torch.Tensor, got list"),
        (dict(target=[0, 1, 2, 0]), "target must be a torch.Tensor, got list"),
        (dict(groups=torch.zeros(4)), "groups must hold one integer per item"),
        (dict(groups=torch.zeros(3).long()), "groups must have the shape of target"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    given = {"scores": LOGITS, "target": CLASSES} | arguments
    with pytest.raises(ValueError, match=message):
        LDAM((9, 5, 2))(given.pop("scores"), given.pop("target"), **given)


def test_reductions_by_list_and_by_group():
    torch.manual_seed(0)
    logits, target = torch.randn(3, 8, 4), torch.randint(0, 4, (3, 8))
    target[1] = 2  # one class: cannot be ranked, and is 0
    each = MultiClassAUC(reduction="none")(logits, target)
    assert each.shape == (3,)
    assert each[1] == 0
    torch.testing.assert_close(MultiClassAUC(reduction="sum")(logits, target), each.sum())
    torch.testing.assert_close(MultiClassAUC()(logits, target), each.sum() / 2)
    groups = torch.tensor([9, -2, 4]).repeat_interleave(8)
    flat = MultiClassAUC(reduction="none")(logits.flatten(0, 1), target.flatten(), groups=groups)
    torch.testing.assert_close(flat, each[[1, 2, 0]])
