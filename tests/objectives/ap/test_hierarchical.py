"""Hierarchical AP as a loss: the metric, its bound, AP of two classes, and what it learns."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.metrics import hierarchical_ap
from rankwise.objectives import AveragePrecision, HierarchicalAP, embedding_scores
from rankwise.pairs import Hinge, OneSidedHuber, SquaredHinge

LIST = st.lists(st.tuples(st.integers(-8, 8), st.integers(0, 4)), min_size=2, max_size=20).filter(
    lambda items: len({y for _, y in items}) > 1
)


def tensors(items):
    scores, target = zip(*items, strict=True)
    return torch.tensor(scores).double() / 4, torch.tensor(target)


@given(items=LIST)
@settings(max_examples=40)
def test_with_the_zero_one_loss_it_is_the_metric(items):
    scores, target = tensors(items)
    value = HierarchicalAP("zero_one", gain="fixed", score_scale=1)(scores, target)
    assert float(value) == pytest.approx(1 - float(hierarchical_ap(scores, target)), abs=1e-12)


@given(items=LIST)
@settings(max_examples=30)
@pytest.mark.parametrize("surrogate", [SquaredHinge(1.0), Hinge(1.0), OneSidedHuber(0.5)], ids=str)
def test_it_bounds_the_metric_where_the_surrogate_bounds_the_step(surrogate, items):
    scores, target = tensors(items)
    loss = HierarchicalAP(surrogate, gain="fixed", score_scale=1)(scores, target)
    assert float(loss) >= 1 - float(hierarchical_ap(scores, target)) - 1e-12


@pytest.mark.parametrize("outer", ["ap", "log", 0.5])
@pytest.mark.parametrize("gain", ["fixed", "annealed"])
def test_of_two_classes_it_is_average_precision_with_exact_true_positives(gain, outer):
    torch.manual_seed(0)
    scores = torch.randn(3, 80, dtype=torch.float64, requires_grad=True)
    target = torch.rand(3, 80) < 0.2
    loss = HierarchicalAP(gain=gain, outer=outer)(scores, target)
    oracle = AveragePrecision(gain=gain, outer=outer, true_positives="zero_one")
    torch.testing.assert_close(loss, oracle(scores, target))
    (found,) = torch.autograd.grad(loss, scores)
    (wanted,) = torch.autograd.grad(oracle(scores, target), scores)
    torch.testing.assert_close(found, wanted)


def test_embeddings_learn_both_levels():
    """Trained on the classes of two super-classes, the super-classes come together as well."""
    torch.manual_seed(0)
    labels = torch.tensor([(c // 3, c) for c in range(6) for _ in range(4)])
    embeddings = torch.randn(24, 8, requires_grad=True)
    loss = HierarchicalAP(score_scale=1)
    optimizer = torch.optim.Adam([embeddings], lr=0.05)

    def value():
        lists = embedding_scores(embeddings.detach(), labels)
        return hierarchical_ap(lists.scores, lists.target, mask=lists.mask)

    before = value()
    for _ in range(150):
        lists = embedding_scores(embeddings, labels)
        optimizer.zero_grad()
        loss(lists.scores, lists.target, mask=lists.mask).backward()
        optimizer.step()
    assert before < 0.5
    assert value() > 0.95


def test_decomposability_holds_cosines_to_one_scale():
    loss = HierarchicalAP(score_scale=1, gain="fixed", decomposability=1.0)
    scores = torch.tensor([0.5, 0.95, 0.2, 0.8], requires_grad=True)
    relevance = torch.tensor([1.0, 1.0, 0.5, 0.0])
    value = loss(scores, relevance)
    assert value.item() == pytest.approx(0.4 / 2 + 0.2)  # 0.9 − 0.5 and 0.8 − 0.6
    (gradient,) = torch.autograd.grad(value, scores)
    assert gradient.tolist() == [-0.5, 0, 0, 1]
    twice = HierarchicalAP(score_scale=2, gain="fixed", decomposability=1.0)
    torch.testing.assert_close(twice(scores, relevance), value)  # margins are of the scores
    without_negatives = loss(torch.tensor([0.5, 0.7]), torch.tensor([1.0, 0.5]))
    assert without_negatives.item() == pytest.approx(0.9 - 0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decomposability": 0.5}, "score_scale must be a number with decomposability"),
        (
            {"decomposability": 1.5, "score_scale": 1},
            "decomposability must be a share",
        ),
        ({"decomposability": -1}, "decomposability must be a finite number >= 0"),
        ({"gain": "other"}, "gain must be one of"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        HierarchicalAP(**options)
