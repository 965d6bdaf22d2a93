from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy, normalize

from rankwise.baselines.info_nce import InfoNCE, NTXent, SupCon
from rankwise.objectives import embedding_scores
from rankwise.objectives.contrastive import two_views

SCORES, TARGET = torch.tensor([0.5, 0.1, 0.9, -0.3]), torch.tensor([1, 1, 0, 0])


def test_worked_by_hand():
    e = [math.exp(s / 0.5) for s in (0.5, 0.1, 0.9, -0.3)]
    below = e[2] + e[3]
    expected = (-math.log(e[0] / (e[0] + below)) - math.log(e[1] / (e[1] + below))) / 2
    assert InfoNCE(0.5)(SCORES, TARGET).item() == pytest.approx(expected)


@given(seed=st.integers(0, 1000), positives=st.integers(1, 5))
@settings(max_examples=20)
def test_equals_the_dense_formula(seed, positives):
    rng = torch.Generator().manual_seed(seed)
    scores = torch.randn(12, dtype=torch.float64, generator=rng, requires_grad=True)
    target = torch.arange(12) < positives
    e = (scores / 0.2).exp()
    expected = torch.stack([-(p / (p + e[~target].sum())).log() for p in e[target]]).mean()
    value = InfoNCE(0.2)(scores, target)
    torch.testing.assert_close(value, expected)
    (a,), (b,) = (torch.autograd.grad(v, scores) for v in (value, expected))
    torch.testing.assert_close(a, b)


def test_nt_xent_of_two_views_is_a_cross_entropy_over_the_batch():
    torch.manual_seed(0)
    first, second = torch.randn(2, 7, 5, dtype=torch.float64).unbind()
    everything = normalize(torch.cat([first, second]), dim=1)
    logits = (everything @ everything.T / 0.1).masked_fill(torch.eye(14).bool(), -torch.inf)
    expected = cross_entropy(logits, (torch.arange(14) + 7) % 14)
    torch.testing.assert_close(NTXent()(**two_views(first, second)._asdict()), expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
@pytest.mark.parametrize("temperature", [1e-3, 0.1])
def test_extremes_are_finite(dtype, temperature):
    for scores in ([1e4, -1e4, 0.0, 1e4], [-1e4, -1e4, 1e4, 1e4]):
        leaf = torch.tensor(scores, dtype=dtype, requires_grad=True)
        value = InfoNCE(temperature)(leaf, TARGET)
        value.backward()
        assert value.isfinite()
        assert leaf.grad.isfinite().all()


def test_a_batch_of_896_is_no_burden():
    torch.manual_seed(0)
    first, second = torch.randn(2, 896, 16).requires_grad_().unbind()
    value = NTXent()(**two_views(first, second)._asdict())
    value.backward()
    assert value.isfinite()


def test_bad_options_are_named():
    with pytest.raises(ValueError, match="temperature must be a finite number > 0, got 0"):
        NTXent(0)


SUP_CON_SCORES, SUP_CON_TARGET = torch.tensor([0.5, 0.1, 0.9, -0.3]), torch.tensor([1, 1, 0, 0])


def test_sup_con_worked_by_hand():
    e = [math.exp(s / 0.5) for s in (0.5, 0.1, 0.9, -0.3)]
    expected = -(math.log(e[0] / sum(e)) + math.log(e[1] / sum(e))) / 2
    assert SupCon(0.5)(SUP_CON_SCORES, SUP_CON_TARGET).item() == pytest.approx(expected)


@given(seed=st.integers(0, 1000))
@settings(max_examples=20)
def test_equals_the_double_sum_of_the_paper(seed):
    rng = torch.Generator().manual_seed(seed)
    embeddings = torch.randn(9, 4, dtype=torch.float64, generator=rng)
    labels = torch.arange(9) % 3
    z, losses = normalize(embeddings, dim=1), []
    for i in range(9):
        others = [a for a in range(9) if a != i]
        below = sum((z[i] @ z[a] / 0.1).exp() for a in others)
        near = [p for p in others if labels[p] == labels[i]]
        losses.append(-sum(((z[i] @ z[p] / 0.1).exp() / below).log() for p in near) / len(near))
    lists = embedding_scores(embeddings, labels)
    value = SupCon()(lists.scores, lists.target, mask=lists.mask)
    torch.testing.assert_close(value, torch.stack(losses).mean())


def test_with_one_positive_it_is_info_nce():
    torch.manual_seed(0)
    scores, target = torch.randn(6, 10, dtype=torch.float64), torch.arange(10).expand(6, 10) == 3
    torch.testing.assert_close(SupCon(0.2)(scores, target), InfoNCE(0.2)(scores, target))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_extremes_of_sup_con_are_finite(dtype):
    for scores in ([1e4, -1e4, 0.0, 1e4], [-1e4, -1e4, 1e4, 1e4]):
        leaf = torch.tensor(scores, dtype=dtype, requires_grad=True)
        value = SupCon(1e-3)(leaf, SUP_CON_TARGET)
        value.backward()
        assert value.isfinite()
        assert leaf.grad.isfinite().all()


def test_a_batch_of_896_is_no_burden_to_sup_con():
    torch.manual_seed(0)
    embeddings = torch.randn(896, 16, requires_grad=True)
    lists = embedding_scores(embeddings, torch.arange(896) % 224)
    SupCon()(lists.scores, lists.target, mask=lists.mask).backward()
    assert embeddings.grad.isfinite().all()


def test_bad_options_of_sup_con_are_named():
    with pytest.raises(ValueError, match="temperature must be a finite number > 0, got nan"):
        SupCon(float("nan"))


@pytest.mark.parametrize("loss", [InfoNCE(0.1), SupCon(0.1)])
def test_ties_of_huge_scores_lose_no_logarithm(loss):
    # In float32 log(4) is nothing next to 1e9/0.1.
    scores = torch.tensor([1e9, 1e9, 1e9, -1e9], requires_grad=True)
    weight = torch.tensor([1.0, 1.0, 2.0, 1.0])
    value = loss(scores, torch.tensor([1, 0, 0, 0]), weight=weight)
    (gradient,) = torch.autograd.grad(value, scores)
    assert value.item() == pytest.approx(math.log(4))  # 1e9 once above, three times below
    torch.testing.assert_close(gradient, torch.tensor([-7.5, 2.5, 5.0, 0.0]))


def test_sup_con_of_copies_of_a_huge_positive():
    scores, target = torch.tensor([1e9, -1e9]), torch.tensor([1, 0])
    value = SupCon(0.1)(scores, target, weight=torch.tensor([3.0, 1.0]))
    assert value.item() == pytest.approx(math.log(3))
