"""PairwiseAUC: the metric, the bound, weights, and every surrogate of EXM Table 2.3."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.lists import split_lists
from rankwise.metrics import auroc
from rankwise.objectives import OneVsRest
from rankwise.objectives.auc import PairwiseAUC
from rankwise.objectives.auc.pairwise import pair_mean
from rankwise.pairs import (
    BarrierHinge,
    Exponential,
    Hinge,
    Logistic,
    Sigmoid,
    Square,
    SquaredHinge,
    ZeroOne,
)

# As the table prints them, of t = s_j − s_i, with s = 2 and c = 1.
TABLE = [
    (SquaredHinge(1.0), lambda t: (1 + t).clamp_min(0) ** 2),
    (Hinge(1.0), lambda t: (1 + t).clamp_min(0)),
    (Logistic(2.0), lambda t: torch.log(1 + torch.exp(2 * t))),
    (Sigmoid(2.0), lambda t: 1 / (1 + torch.exp(-2 * t))),
    (Square(1.0), lambda t: (1 + t) ** 2),
    (
        BarrierHinge(2.0, 1.0),
        lambda t: torch.maximum(-2 * (1 - t) + 1, torch.maximum(2 * (-t - 1), 1 + t)),
    ),
    (Exponential(2.0), lambda t: torch.exp(2 * t)),
]
by_surrogate = pytest.mark.parametrize(("surrogate", "table"), TABLE, ids=lambda v: str(v)[:12])


def sample(n=40, seed=0):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(n, dtype=torch.float64, generator=generator)
    return scores.requires_grad_(), torch.rand(n, generator=generator) < 0.4


@by_surrogate
@pytest.mark.parametrize("n", [40, 1500])  # as dense blocks, and sorted or separated
def test_the_mean_over_all_pairs(surrogate, table, n):
    scores, target = sample(n)
    value = PairwiseAUC(surrogate)(scores, target)
    expected = table(scores[~target][:, None] - scores[target]).mean()
    torch.testing.assert_close(value, expected, rtol=1e-6, atol=0)
    (a,), (b,) = torch.autograd.grad(value, scores), torch.autograd.grad(expected, scores)
    torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-12)


@by_surrogate
def test_weight_two_counts_twice(surrogate, table):
    scores, target = sample()
    weight = torch.randint(0, 4, (40,), generator=torch.Generator().manual_seed(1))
    copies = torch.repeat_interleave(torch.arange(40), weight)
    loss = PairwiseAUC(surrogate)
    value, expected = (
        loss(scores, target, weight=weight.double()),
        loss(scores[copies], target[copies]),
    )
    torch.testing.assert_close(value, expected, rtol=1e-6, atol=0)


@pytest.mark.parametrize("surrogate", [Logistic(2.0), Sigmoid(2.0), Square(1.0), Exponential(1.0)])
def test_gradcheck(surrogate):
    scores, target = sample(12)
    loss = PairwiseAUC(surrogate)
    assert torch.autograd.gradcheck(lambda s: loss(s, target), (scores,), atol=1e-6)


def test_with_the_zero_one_loss_it_is_the_metric():
    scores, target = sample(300)
    scores = (4 * scores.detach()).round() / 4
    value = PairwiseAUC(ZeroOne())(scores, target)
    torch.testing.assert_close(value, 1 - auroc(scores, target, ties="against"))


LIST = st.lists(st.tuples(st.integers(-20, 20), st.booleans()), min_size=2, max_size=30).filter(
    lambda items: 0 < sum(positive for _, positive in items) < len(items)
)


@given(items=LIST, surrogate=st.sampled_from([SquaredHinge(1.0), Hinge(1.0), Square(1.0)]))
@settings(max_examples=30)
def test_it_bounds_the_metric(items, surrogate):
    scores = torch.tensor([score / 4 for score, _ in items], dtype=torch.float64)
    target = torch.tensor([positive for _, positive in items])
    exact = 1 - float(auroc(scores, target, ties="against"))
    assert float(PairwiseAUC(surrogate)(scores, target)) >= exact - 1e-12


def test_several_labels_by_item_some_of_them_unknown():
    torch.manual_seed(0)
    logits = torch.randn(30, 4, dtype=torch.float64)
    labels = torch.randint(-1, 2, (30, 4))
    labels[:, 3] = labels[:, 3].clamp_max(0)  # nobody is known to have the last label
    by_label = []
    for c in range(3):
        has, has_not = logits[labels[:, c] == 1, c], logits[labels[:, c] == 0, c]
        by_label.append(((1 - has[:, None] + has_not).clamp_min(0) ** 2).mean())
    torch.testing.assert_close(
        OneVsRest(PairwiseAUC())(logits, labels), torch.stack(by_label).mean()
    )


def test_two_positives_and_two_negatives_by_hand():
    weight = torch.tensor([[3.0, 1.0, 1.0, 1.0]])
    scores, target = torch.tensor([[2.0, 0.0, 1.0, 1.5]]), torch.tensor([[1, 0, 0, 1]])
    lists = split_lists(scores, target, weight=weight)
    # x = 2, 1 for the positive that counts thrice, 1.5, .5 for the other; ℓ = (1 − x)₊
    torch.testing.assert_close(pair_mean(Hinge(1.0), lists), torch.tensor([0.5 / 8]))


def test_bad_options_are_named():
    with pytest.raises(ValueError, match=r"surrogate must be one of rankwise\.pairs"):
        PairwiseAUC(1.0)
