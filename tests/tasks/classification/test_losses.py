from __future__ import annotations

import math

import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from rankwise.baselines import LDAM, ClassBalanced
from rankwise.errors import UsageError
from rankwise.objectives import SOAP, AveragePrecision, MultiClassAUC, OneVsRest, StableAP
from rankwise.tasks.classification.losses import ClassificationLoss
from rankwise.tasks.classification.settings import Objective

BINARY = torch.tensor([1] * 5 + [0] * 45)
CLASSES = torch.arange(3).repeat_interleave(torch.tensor([30, 15, 5]))
LABELS = torch.stack([torch.arange(50) % n == 0 for n in (2, 5, 10)], 1).long()
CONTENDERS = (
    "cross_entropy",
    "class_balanced",
    "focal",
    "auc",
    "smooth_ap",
    "soap",
    "soprc",
    "stable_ap",
    "ap",
)


def loss(name, target, classes, **more):
    return ClassificationLoss(Objective(name=name, **more), target, classes)


def logits(columns):
    return torch.randn(50, columns, generator=torch.Generator().manual_seed(1)).requires_grad_()


@pytest.mark.parametrize("name", [*CONTENDERS, "mauc", "ldam"])
def test_every_contender_of_two_classes(name):
    scores = logits(1)
    value = loss(name, BINARY, 2)(scores, BINARY, rows=torch.arange(50))
    value.backward()
    assert value.isfinite()
    assert scores.grad.abs().sum() > 0


@pytest.mark.parametrize("name", [*CONTENDERS, "mauc", "ldam"])
def test_every_contender_of_several_classes(name):
    scores = logits(3)
    value = loss(name, CLASSES, 3)(scores, CLASSES, rows=torch.arange(50))
    value.backward()
    assert value.isfinite()
    assert (scores.grad.abs().sum(0) > 0).all()


@pytest.mark.parametrize("name", CONTENDERS)
def test_every_contender_of_several_labels(name):
    scores = logits(3)
    value = loss(name, LABELS, 3)(scores, LABELS, rows=torch.arange(50))
    value.backward()
    assert value.isfinite()
    assert (scores.grad.abs().sum(0) > 0).all()


def test_the_prior_is_that_of_the_training_set():
    own = loss("ap(gain='fixed')", BINARY, 2)
    batch = torch.tensor([1, 1, 0, 0])  # half of the batch, a tenth of the set
    scores = torch.tensor([[0.5], [-1.0], [0.3], [-2.0]])
    wanted = AveragePrecision(0.1, gain="fixed")(scores[:, 0], batch)
    assert own(scores, batch).item() == pytest.approx(wanted.item())


def test_by_class_the_prior_is_that_of_each_and_a_list_is_kept_for_each():
    own = loss("stable_ap", CLASSES, 3)
    wanted = OneVsRest(StableAP(torch.tensor([0.6, 0.3, 0.1]), num_lists=3))
    for shift in (0.0, 1.0):  # the second time with what the first has left
        scores = logits(3).detach() * (1 + shift)
        assert own(scores, CLASSES).item() == pytest.approx(wanted(scores, CLASSES).item())
    assert own.objective.objective.memory_size == 3


def test_soap_remembers_images_by_their_rows():
    own = loss("soap", BINARY, 2)
    wanted = SOAP(0.1, num_items=50)
    rows = torch.tensor([3, 40, 1, 20])
    for _ in range(2):
        scores = torch.randn(4, 1)
        value = own(scores, BINARY[rows], rows=rows)
        assert value.item() == pytest.approx(
            wanted(scores[:, 0], BINARY[rows], item_ids=rows).item()
        )
    with pytest.raises(ValueError, match="rows is needed: soap remembers images"):
        own(torch.randn(4, 1), BINARY[rows])


def test_cross_entropy_and_class_balanced_of_several_classes():
    scores = logits(3)
    plain = loss("cross_entropy", CLASSES, 3)(scores, CLASSES)
    assert plain.item() == pytest.approx(cross_entropy(scores, CLASSES).item())
    # (1 − β)/(1 − β^n) scaled to mean 1, β = .9
    raw = [0.1 / (1 - 0.9**n) for n in (30, 15, 5)]
    weight = torch.tensor([3 * w / sum(raw) for w in raw])
    each = cross_entropy(scores, CLASSES, reduction="none")
    balanced = loss("class_balanced(beta=.9)", CLASSES, 3)(scores, CLASSES)
    assert balanced.item() == pytest.approx((each * weight[CLASSES]).mean().item(), rel=1e-5)


def test_class_balanced_of_two_classes_and_of_labels():
    scores = logits(1)
    wanted = ClassBalanced([45, 5], beta=0.99)(scores[:, 0], BINARY)
    found = loss("class_balanced(beta=.99)", BINARY, 2)(scores, BINARY)
    assert found.item() == pytest.approx(wanted.item())
    scores = logits(3)
    several = loss("class_balanced(beta=.99)", LABELS, 3)(scores, LABELS)
    each = [
        ClassBalanced([50 - n, n], beta=0.99)(scores[:, c], LABELS[:, c])
        for c, n in enumerate((25, 10, 5))
    ]
    assert several.item() == pytest.approx(sum(each).item() / 3, rel=1e-5)


def test_two_classes_as_two_logits():
    scores = logits(1)
    found = loss("mauc", BINARY, 2)(scores, BINARY)
    both = torch.cat([-scores, scores], 1) / 2  # the softmax of which is the sigmoid
    assert found.item() == pytest.approx(MultiClassAUC()(both, BINARY).item())
    cosines = ClassificationLoss(Objective(name="ldam(defer=1)"), BINARY, 2, cosine=True)
    wanted = LDAM([45, 5], defer=1)
    for epoch in (0, 1):
        cosines.begin(epoch)
        wanted.set_epoch(epoch)
        z = torch.tanh(scores)
        both = torch.cat([-z, z], 1)
        assert cosines(z, BINARY).item() == pytest.approx(wanted(both, BINARY).item())


def test_cosines_are_made_larger_but_not_for_ldam():
    z = torch.tanh(logits(1))
    for name in ("cross_entropy", "smooth_ap(tau=1)"):
        plain = loss(name, BINARY, 2)(30 * z, BINARY)
        cosines = ClassificationLoss(Objective(name=name), BINARY, 2, cosine=True)(z, BINARY)
        assert cosines.item() == pytest.approx(plain.item())


@pytest.mark.parametrize(
    ("target", "classes", "columns"), [(BINARY, 2, 1), (CLASSES, 3, 3), (LABELS, 3, 3)]
)
def test_the_warm_start_is_cross_entropy_whatever_comes_after(target, classes, columns):
    scores = logits(columns)
    if target is CLASSES:
        wanted = cross_entropy(scores, target)
    else:
        wanted = binary_cross_entropy_with_logits(scores.reshape(target.shape), target.float())
    for name in ("soprc", "soap", "stable_ap"):
        own = loss(name, target, classes, warm_start=3)
        assert own(scores, target, step=2).item() == pytest.approx(wanted.item())
        after = own(scores, target, step=3, rows=torch.arange(50)).item()
        assert not math.isclose(after, wanted.item(), rel_tol=1e-6)


def test_a_batch_without_positives_has_a_loss_and_a_gradient():
    scores = logits(1)
    with pytest.warns(RuntimeWarning, match=r"\(1 list, 0 positives, 50 negatives\)"):
        value = loss("soprc", BINARY, 2)(scores, torch.zeros(50, dtype=torch.long))
    value.backward()
    assert value.item() == 0
    assert (scores.grad == 0).all()


@pytest.mark.parametrize(
    ("name", "target", "more", "message"),
    [
        ("soprk", BINARY, {}, r"objective\.name: "),
        ("mauc", LABELS, {}, "mauc is for one class by image"),
        ("xbm(ap, 8, 8)", BINARY, {}, r"objective\.name: "),
        ("soprc", BINARY, {"previous": True}, r"objective\.previous is for stable_ap"),
        ("ap", torch.zeros(5, dtype=torch.long), {}, "must have both classes"),
    ],
)
def test_what_cannot_be_is_said(name, target, more, message):
    with pytest.raises(UsageError, match=message):
        loss(name, target, 3 if target.ndim == 2 else 2, **more)
