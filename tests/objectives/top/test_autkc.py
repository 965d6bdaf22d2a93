"""AUTKC against the top-k error counted class by class, and its formula written out."""

from __future__ import annotations

import pytest
import torch

from rankwise.objectives.top import AUTKC
from rankwise.pairs import Exponential, Logistic, Square, ZeroOne


def data(items=20, classes=7, seed=0):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(items, classes, dtype=torch.float64, generator=generator)
    return logits, torch.randint(0, classes, (items,), generator=generator)


@pytest.mark.parametrize("softmax", [True, False])
@pytest.mark.parametrize("k", [1, 3, 6, 7, 50])
def test_with_the_zero_one_loss_it_is_the_mean_top_k_error(k, softmax):
    logits, target = data()
    missed, ranks = [], []
    for scores, own in zip(logits.tolist(), target.tolist(), strict=True):
        order = sorted(range(7), key=lambda c: -scores[c])
        missed += [own not in order[:cut] for cut in range(1, k + 1)]
        ranks.append(1 + order.index(own))
    value = float(AUTKC(k, ZeroOne(), softmax=softmax)(logits, target))
    assert value == pytest.approx(sum(missed) / len(missed))
    assert value == pytest.approx(sum(min(rank - 1, k) / k for rank in ranks) / len(ranks))


@pytest.mark.parametrize("softmax", [True, False])
@pytest.mark.parametrize("surrogate", [Square(1.0), Logistic(1.0), Exponential(0.5)], ids=str)
def test_value_and_gradient_equal_the_formula(surrogate, softmax):
    logits, target = data(seed=1)
    logits.requires_grad_()
    terms = []
    for row, own in zip(logits.softmax(-1) if softmax else logits, target, strict=True):
        others = torch.cat([row[:own], row[own + 1 :]]).sort(descending=True).values
        terms.append(surrogate.value(row[own] - others[:3]).sum() / 3)
    expected = torch.stack(terms).mean()
    value = AUTKC(3, surrogate, softmax=softmax)(logits, target)
    torch.testing.assert_close(value, expected)
    (a,), (b,) = torch.autograd.grad(value, logits), torch.autograd.grad(expected, logits)
    torch.testing.assert_close(a, b)


def test_by_hand():
    logits = torch.tensor([[2.0, 1.0, 4.0, -9.0]])
    loss = AUTKC(2, softmax=False)
    assert float(loss(logits, torch.tensor([1]))) == ((1 + 3) ** 2 + (1 + 1) ** 2) / 2
    assert float(loss(logits, torch.tensor([3]))) == ((1 + 13) ** 2 + (1 + 11) ** 2) / 2


def test_ties_have_one_value_whatever_the_order_of_the_classes():
    logits, target = torch.tensor([[1.0, 0.0, 0.0, 0.0, 2.0]]), torch.tensor([0])
    order = torch.tensor([0, 4, 3, 2, 1])
    loss = AUTKC(2)
    torch.testing.assert_close(loss(logits[:, order], target), loss(logits, target))


def test_weights_masks_lists_and_classes_left_out():
    logits, target = data(24, 5, seed=2)
    loss = AUTKC(2)
    expected = loss(logits[:8], target[:8])
    present = torch.arange(24) < 8
    torch.testing.assert_close(loss(logits, target, mask=present), expected)
    torch.testing.assert_close(loss(logits, target, weight=present.double()), expected)
    torch.testing.assert_close(loss(logits, target.masked_fill(~present, -1)), expected)
    whole = loss(logits, target)
    torch.testing.assert_close(loss(logits.reshape(3, 8, 5), target.reshape(3, 8)), whole)
    twice = torch.cat([logits, logits[:3]]), torch.cat([target, target[:3]])
    weight = 1.0 + (torch.arange(24) < 3)
    torch.testing.assert_close(loss(logits, target, weight=weight), loss(*twice))


def test_one_class_is_refused():
    with pytest.raises(ValueError, match=r"got 1 class; .* pass `scores.squeeze\(-1\)`"):
        AUTKC(3)(torch.zeros(4, 1), torch.zeros(4, dtype=torch.long))


def test_huge_logits_are_finite():
    wide = torch.tensor([[1e4, -1e4, 0.0], [-1e4, 1e4, 5.0]], requires_grad=True)
    for loss in (AUTKC(2), AUTKC(2, Logistic(), softmax=False)):
        value = loss(wide, torch.tensor([0, 0]))
        assert torch.isfinite(value)
        assert torch.isfinite(torch.autograd.grad(value, wide)[0]).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_half_precision(dtype):
    logits, target = data(seed=3)
    narrow = logits.to(dtype).requires_grad_()
    value = AUTKC(3)(narrow, target)
    torch.testing.assert_close(value.double(), AUTKC(3)(logits, target), rtol=2e-2, atol=2e-3)
    assert torch.autograd.grad(value, narrow)[0].dtype == dtype


@pytest.mark.parametrize("k", [0, 1.5, True])
def test_bad_options_are_named(k):
    with pytest.raises(ValueError, match="k must be a whole number >= 1"):
        AUTKC(k)
