"""AP@k as an objective: the metric itself with counts, a cut with a gradient with softness."""

from __future__ import annotations

from itertools import product

import pytest
import torch

from rankwise import metric, objective
from rankwise.metrics import average_precision
from rankwise.naming import metric_of
from rankwise.objectives import AveragePrecision, OneVsRest

EXACT = {"false_positives": "zero_one", "true_positives": "zero_one", "gain": "fixed"}


@pytest.mark.parametrize("k", [1, 3, 6, 100])
def test_with_counts_it_is_one_minus_the_metric(k):
    rng = torch.Generator().manual_seed(0)
    for _ in range(20):
        scores = torch.randperm(20, generator=rng).double()  # no ties
        target = torch.rand(20, generator=rng) < 0.3
        target[:2] = torch.tensor([True, False])
        ranked = target[scores.argsort(descending=True)].tolist()
        hits = [sum(ranked[: r + 1]) / (r + 1) for r in range(min(k, 20)) if ranked[r]]
        expected = sum(hits) / sum(ranked)
        assert average_precision(scores, target, k=k).item() == pytest.approx(expected)
        value = AveragePrecision(k=k, **EXACT)(scores, target)
        assert value.item() == pytest.approx(1 - expected, abs=1e-6)


def test_ties_at_the_cut_are_shared_whatever_the_order():
    scores, target = torch.tensor([3.0, 2.0, 2.0, 2.0, 1.0]), torch.tensor([1, 1, 1, 0, 0])
    loss = AveragePrecision(k=2, **EXACT)
    values = []
    for order in product(range(3), repeat=3):
        if len(set(order)) < 3:
            continue
        places = torch.tensor([0, *(1 + i for i in order), 4])
        values.append(loss(scores[places], target[places]).item())
    # One of the three tied items is in the first two: c = 1/3. All of them count as above.
    assert values == pytest.approx([1 - (1 + 2 * (1 / 3) * (3 / 4)) / 3] * 6)


def test_only_positives_at_the_top_have_a_gradient_unless_the_cut_is_soft():
    scores = torch.tensor([3.0, 2.5, 2.0, 1.0, 0.0], requires_grad=True)
    target = torch.tensor([0, 1, 0, 1, 0])
    hard, soft = AveragePrecision(k=3), AveragePrecision(k=3, softness=0.5)
    for loss, reaches in ((hard, False), (soft, True)):
        (slope,) = torch.autograd.grad(loss(scores, target), scores)
        assert slope[1] < 0
        if reaches:
            assert slope[3] < 0
    own = AveragePrecision(k=3, score_scale=1.0)(scores, target)
    (slope,) = torch.autograd.grad(own, scores)
    assert slope[3] == 0


def test_a_cut_below_the_list_is_no_cut():
    scores, target = (
        torch.randn(30, generator=torch.Generator().manual_seed(1)),
        torch.arange(30) < 6,
    )
    for options in ({}, {"gain": "fixed"}, {"false_positives": "exponential"}):
        torch.testing.assert_close(
            AveragePrecision(k=30, **options)(scores, target),
            AveragePrecision(**options)(scores, target),
        )


def test_it_has_the_name_of_its_metric():
    made = objective("ap@10(softness=.2)", prior=0.1)
    assert (made.k, made.softness) == (10, 0.2)
    assert metric_of("ap@10(softness=.2)") == "ap@10"
    assert metric_of("ap") == metric_of("soprc") == "ap"
    assert repr(metric("ap@10")) == "ap(k=10)"
    assert metric("map_cut_10").options == {"k": 10}


def test_labels_of_several_classes():
    scores = torch.randn(40, 3, generator=torch.Generator().manual_seed(2))
    target = torch.randint(0, 2, (40, 3), generator=torch.Generator().manual_seed(3))
    loss = AveragePrecision(k=5, **EXACT)
    expected = torch.stack([loss(s, y) for s, y in zip(scores.T, target.T, strict=True)]).mean()
    torch.testing.assert_close(OneVsRest(loss)(scores, target), expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k must be a whole number >= 1"),
        ({"k": 3, "outer": "log"}, 'outer must be "ap" with k'),
        ({"softness": 0.1}, "softness is for the cut at k"),
        ({"k": 3, "softness": 0.0}, "softness"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        AveragePrecision(**options)


def test_fractional_weights_have_no_ranks():
    with pytest.raises(ValueError, match="average_precision with k"):
        average_precision(
            torch.randn(4), torch.tensor([1, 0, 1, 0]), k=2, weight=torch.full((4,), 0.5)
        )
