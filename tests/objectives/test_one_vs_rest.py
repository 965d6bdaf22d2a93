from __future__ import annotations

import copy

import pytest
import torch
from tests.compiling import check_compiled_loss, check_compiled_step, quiet_compiler

from rankwise.objectives import SOAP, SOPRC, AveragePrecision, OneVsRest, StableAP

LOGITS = torch.randn(30, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
CLASSES = torch.arange(30) % 3  # the fourth class has no item


def by_class(target):
    loss = AveragePrecision(score_scale=1.0)
    rows = [loss(LOGITS[:, c], target[:, c]) for c in range(4) if 0 < target[:, c].sum() < 30]
    return torch.stack(rows).mean()


def test_each_class_is_a_list():
    loss = OneVsRest(AveragePrecision(score_scale=1.0))
    hot = torch.nn.functional.one_hot(CLASSES, 4)
    torch.testing.assert_close(loss(LOGITS, CLASSES), by_class(hot))
    torch.testing.assert_close(loss(LOGITS, hot), by_class(hot))
    many = torch.rand(30, 4, generator=torch.Generator().manual_seed(1)) < 0.3
    torch.testing.assert_close(loss(LOGITS, many.float()), by_class(many))


def test_minus_one_leaves_out():
    loss = OneVsRest(AveragePrecision(score_scale=1.0))
    kept = loss(LOGITS[:20], CLASSES[:20])
    cut = CLASSES.masked_fill(torch.arange(30) >= 20, -1)
    torch.testing.assert_close(loss(LOGITS, cut), kept)
    hot = torch.nn.functional.one_hot(CLASSES, 4).masked_fill(torch.arange(30)[:, None] >= 20, -1)
    torch.testing.assert_close(loss(LOGITS, hot), kept)


def test_memories_are_by_class():
    loss = OneVsRest(SOPRC(0.3, num_lists=4, score_scale=1.0))
    loss(LOGITS.clone().requires_grad_(), CLASSES)
    assert loss.objective.vector.seen.tolist() == [True, True, True, False]
    loss = OneVsRest(StableAP(0.3, num_lists=4, score_scale=1.0))
    loss(LOGITS.clone().requires_grad_(), CLASSES)
    for c in range(3):
        mean = float(LOGITS[c::3, c].mean())
        assert float(loss.objective.mean.value[c]) == pytest.approx(mean, rel=1e-5)


def test_two_classes_have_two_memories():
    loss = OneVsRest(StableAP(0.3, num_lists=2, score_scale=1.0))
    loss(LOGITS[:, :2].clone().requires_grad_(), torch.arange(30) % 2)
    for c in range(2):
        mean = float(LOGITS[c::2, c].mean())
        assert float(loss.objective.mean.value[c]) == pytest.approx(mean, rel=1e-5)


def test_no_items_of_one_class_have_no_loss():
    with pytest.warns(RuntimeWarning, match="no list of this batch has both classes"):
        value = OneVsRest(AveragePrecision())(torch.zeros(0, 1), torch.zeros(0).long())
    assert value.item() == 0


def test_previous_scores_reach_the_objective():
    loss = OneVsRest(StableAP(0.3, num_lists=4, score_scale=1.0, ema_rate=0.5))
    loss(LOGITS.clone().requires_grad_(), CLASSES)
    loss(LOGITS.clone().requires_grad_(), CLASSES, previous_scores=LOGITS - 1)
    mean = float(LOGITS[0::3, 0].mean())
    assert float(loss.objective.mean.value[0]) == pytest.approx(mean + 0.5 * 1, rel=1e-5)


def test_memories_by_item_and_class():
    loss = OneVsRest(SOAP(0.3, 100 * 4, score_scale=1.0))
    item_ids = torch.arange(30) + 50
    loss(LOGITS.clone().requires_grad_(), CLASSES, item_ids=item_ids)
    expected = sorted((50 + i) * 4 + i % 3 for i in range(30))
    assert loss.objective.average.seen.nonzero().flatten().tolist() == expected
    with pytest.raises(ValueError, match=r"item_ids must hold one id per item, shape \(30,\)"):
        loss(LOGITS, CLASSES)


@pytest.mark.parametrize(
    ("logits", "target", "message"),
    [
        (LOGITS[:, 0], CLASSES, r"logits must have shape \(items, classes\), got \(30,\)"),
        (LOGITS, CLASSES[:5], r"target must be class ids of shape \(30,\) or multi-hot"),
        (LOGITS, CLASSES + 2, "from 0 to 3, or -1 to leave an item out, got values from 2 to 4"),
        (LOGITS, CLASSES.float(), "target must be class ids"),
    ],
)
def test_bad_input_is_named(logits, target, message):
    with pytest.raises(ValueError, match=message):
        OneVsRest(AveragePrecision())(logits, target)


def test_one_class_with_a_multi_hot_target_is_one_list():
    logits, hot = LOGITS[:, :1].clone().requires_grad_(), CLASSES[:, None] == 1
    value = OneVsRest(AveragePrecision())(logits, hot)
    torch.testing.assert_close(value, AveragePrecision()(logits.squeeze(-1), hot.squeeze(-1)))
    assert (torch.autograd.grad(value, logits)[0] != 0).any()


@pytest.mark.parametrize("target", [torch.tensor([2]), torch.tensor([[0, 0, 1, -1]])])
@pytest.mark.parametrize("kind", ["none", "list", "item"])
def test_a_last_batch_of_one_item_gives_zero_with_a_graph_and_the_warning(target, kind):
    inner = {
        "none": AveragePrecision,
        "list": lambda: StableAP(0.3, num_lists=4, score_scale=1.0),
        "item": lambda: SOAP(0.3, num_items=120, score_scale=1.0),
    }[kind]
    loss, logits = OneVsRest(inner()), LOGITS[:1].clone().requires_grad_()
    beside = {"item_ids": torch.tensor([7])} if kind == "item" else {"weight": torch.ones(1)}
    if kind == "list":
        beside["previous_scores"] = LOGITS[:1]
    before = copy.deepcopy(loss.state_dict())
    lists = "3" if target.dim() == 2 else "4"  # one label is not known
    counts = rf"\({lists} lists, 1 positive, {int(lists) - 1} negatives\)"
    with pytest.warns(RuntimeWarning, match=counts):
        value = loss(logits, target, **beside)
    assert value.item() == 0
    assert (torch.autograd.grad(value, logits)[0] == 0).all()
    for name, state in loss.state_dict().items():
        assert torch.equal(state, before[name])


def test_labels_that_are_not_multi_hot_and_weights_of_another_shape_are_named():
    loss = OneVsRest(AveragePrecision())
    with pytest.raises(ValueError, match="target must contain only 0 and 1"):
        loss(LOGITS, torch.full((30, 4), 0.5))
    with pytest.raises(ValueError, match=r"weight must have one number per item, shape \(30,\)"):
        loss(LOGITS, CLASSES, weight=torch.ones(4))


@quiet_compiler
def test_compiled_it_runs_in_eager_mode_quietly():
    check_compiled_loss(lambda: OneVsRest(StableAP(0.3, num_lists=4)), LOGITS, CLASSES)
    check_compiled_step(lambda: OneVsRest(StableAP(0.3, num_lists=4)), LOGITS, CLASSES)
