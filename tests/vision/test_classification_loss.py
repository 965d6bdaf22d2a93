from __future__ import annotations

import pytest
import torch

from rankwise.baselines import ErrorDrivenAP, Focal
from rankwise.objectives import SOPRC, AveragePrecision, StableAP
from rankwise.objectives.one_vs_rest import OneVsRest
from rankwise.vision import ClassificationLoss

NAMES = ("stable_ap", "soprc", "ap", "auc", "smooth_ap", "error_driven_ap", "dr", "focal", "bce")


def places(n: int = 200, classes: int = 3, found: int = 12) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    labels = torch.full((n,), -1)
    labels[:found] = torch.randint(0, classes, (found,), generator=generator)
    return torch.randn(n, classes, generator=generator).requires_grad_(), labels


def hot(labels: torch.Tensor, classes: int = 3) -> torch.Tensor:
    return labels.unsqueeze(1) == torch.arange(classes)


@pytest.mark.parametrize("objective", [AveragePrecision(), StableAP(0.02), ErrorDrivenAP()])
def test_pooled_is_one_list_of_all_scores(objective):
    logits, labels = places()
    fresh = type(objective)(0.02) if isinstance(objective, StableAP) else objective
    expected = fresh(logits.flatten(), hot(labels).flatten())
    torch.testing.assert_close(ClassificationLoss(objective)(logits, labels), expected)


def test_a_list_of_every_class_is_one_vs_rest_with_background():
    logits, labels = places()
    expected = OneVsRest(AveragePrecision())(logits, hot(labels).long())
    loss = ClassificationLoss("ap", pooled=False)
    torch.testing.assert_close(loss(logits, labels), expected)


def test_names_take_the_share_of_positives_of_the_batch():
    assert ClassificationLoss("soprc").objective.prior is None
    assert ClassificationLoss("soprc(prior=.1)").objective.prior.item() == pytest.approx(0.1)
    assert ClassificationLoss("stable_ap(.2)").objective.prior.item() == pytest.approx(0.2)
    assert ClassificationLoss("stable_ap", pooled=False, classes=7).objective.memory_size == 7


def test_focal_is_summed_and_divided_by_the_positives():
    logits, labels = places()
    p, y = logits.sigmoid(), hot(labels)
    right = torch.where(y, p, 1 - p)
    dense = -torch.where(y, 0.25, 0.75) * (1 - right) ** 2 * right.log()
    loss = ClassificationLoss("focal")
    torch.testing.assert_close(loss(logits, labels), dense.sum() / 12)
    torch.testing.assert_close(
        ClassificationLoss("focal", pooled=False)(logits, labels), dense.sum() / 12
    )
    background = torch.full_like(labels, -1)
    dense = -0.75 * p**2 * (1 - p).log()
    torch.testing.assert_close(loss(logits, background), dense.sum())
    assert ClassificationLoss("focal(gamma=1, alpha=None)").objective.alpha is None
    assert ClassificationLoss("focal(2.0, 0.4)").objective.alpha == 0.4
    assert ClassificationLoss(Focal()).objective.alpha is None


@pytest.mark.parametrize("pooled", [True, False])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "smooth_ap"])  # τ for cosines
def test_following_the_gradient_brings_objects_to_the_front(name, pooled):
    logits, labels = places()
    loss = ClassificationLoss(name, pooled=pooled, classes=3)
    optimizer = torch.optim.Adam([logits], lr=0.1)
    for _ in range(40):
        optimizer.zero_grad()
        loss(logits, labels).backward()
        optimizer.step()
    right = logits.detach()[hot(labels)].sort().values
    wrong = logits.detach()[~hot(labels)]
    assert right[3] > wrong.max()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("pooled", [True, False])
@pytest.mark.filterwarnings("ignore:.*no list of this batch has both classes:RuntimeWarning")
def test_no_objects_and_no_places_are_finite(name, pooled, dtype):
    loss = ClassificationLoss(name, pooled=pooled, classes=3)
    for n in (0, 20):
        logits = (5 * torch.randn(n, 3)).to(dtype).requires_grad_()
        value = loss(logits, torch.full((n,), -1))
        (gradient,) = torch.autograd.grad(value, logits)
        assert gradient.isfinite().all()
        if name in ("focal", "bce") and n:
            assert value > 0
            assert (gradient >= 0).all()
            assert gradient.sum() > 0
        else:
            assert value == 0
            assert (gradient == 0).all()


def test_only_rankings_do_not_feel_a_shift():
    logits, labels = places()
    for name in NAMES:
        here, there = ClassificationLoss(name), ClassificationLoss(name)
        moved = (here(logits, labels) - there(logits + 2, labels)).abs() > 1e-2
        assert bool(moved) == here.shift_sensitive


def test_the_memory_is_in_the_state():
    logits, labels = places()
    loss, other = (ClassificationLoss("soprc", pooled=False, classes=3) for _ in range(2))
    loss(logits, labels)
    other.load_state_dict(loss.state_dict())
    assert torch.equal(other(logits, labels), loss(logits, labels))


def test_bad_input_is_named():
    logits, labels = places()
    with pytest.raises(ValueError, match="objective SOAP remembers items"):
        ClassificationLoss("soap(num_items=9)")
    with pytest.raises(ValueError, match="SOPRC remembers 4 lists and there is one"):
        ClassificationLoss(SOPRC(0.1, 4))
    with pytest.raises(ValueError, match='classes is needed: objective "soprc"'):
        ClassificationLoss("soprc", pooled=False)
    with pytest.raises(ValueError, match="objective must rank lists of scores, got OneVsRest"):
        ClassificationLoss(OneVsRest(AveragePrecision()))
    with pytest.raises(ValueError, match="no objective is called"):
        ClassificationLoss("stabel_ap")
    loss = ClassificationLoss("ap")
    with pytest.raises(ValueError, match=r"logits must have shape \(n, classes\)"):
        loss(logits[0], labels)
    with pytest.raises(ValueError, match="from 0 to 2, or -1 for background, got 1 others such as"):
        loss(logits, labels.index_fill(0, torch.tensor([5]), 3))
    with pytest.raises(ValueError, match="labels must be whole numbers of shape"):
        loss(logits, labels.float())
