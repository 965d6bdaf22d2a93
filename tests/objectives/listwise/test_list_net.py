"""ListNet by hand, its copies, and the normalizers it follows."""

from __future__ import annotations

import math

import pytest
import torch

from rankwise.objectives.listwise import ListNet


def test_by_hand():
    scores, target = torch.tensor([0.0, math.log(2), 0.0]), torch.tensor([2, 1, 0])
    e = math.e
    total = e**2 + e + 1
    expected = e**2 / total * math.log(4) + e / total * math.log(2)  # softmax ¼, ½, ¼
    assert ListNet()(scores, target).item() == pytest.approx(expected, rel=1e-6)
    expected = (math.log(4) + math.log(2)) / 2
    assert ListNet("uniform")(scores, target).item() == pytest.approx(expected, rel=1e-6)


def test_as_printed_each_relevant_item_has_one_over_the_length_of_the_list():
    scores, target = torch.tensor([0.0, 1.0, 2.0]), torch.tensor([1, 0, 0])
    surprise = math.log(1 + math.e + math.e**2)
    assert ListNet("uniform")(scores, target).item() == pytest.approx(surprise)
    assert round(surprise, 3) == 2.408
    printed = ListNet("uniform", printed=True)(scores, target).item()
    assert printed == pytest.approx(surprise / 3)
    assert round(printed, 3) == 0.803


@pytest.mark.parametrize(
    "options",
    [{}, {"target_distribution": "uniform"}, {"target_distribution": "uniform", "printed": True}],
    ids=str,
)
def test_whole_weights_are_copies(options):
    torch.manual_seed(1)
    scores = torch.randn(12, dtype=torch.float64, requires_grad=True)
    target, weight = torch.randint(0, 4, (12,)), torch.randint(0, 4, (12,))
    copies = torch.repeat_interleave(torch.arange(12), weight)
    loss = ListNet(**options)
    value = loss(scores, target, weight=weight.double())
    expected = loss(scores[copies], target[copies])
    torch.testing.assert_close(value, expected)
    (a,), (b,) = torch.autograd.grad(value, scores), torch.autograd.grad(expected, scores)
    torch.testing.assert_close(a, b)


def test_two_steps_of_the_followed_mean_by_hand():
    torch.manual_seed(0)
    target, item_ids = torch.tensor([2, 0, 1, 0]), torch.arange(4)
    first = torch.randn(4, dtype=torch.float64, requires_grad=True)
    second = torch.randn(4, dtype=torch.float64, requires_grad=True)
    loss = ListNet("uniform", num_items=4, ema_rate=0.25)
    loss(first, target, item_ids=item_ids)
    value = loss(second, target, item_ids=item_ids)

    def means(scores):
        return (scores - scores[:, None]).exp().mean(1)[[0, 2]]

    g = means(second)
    u = (0.75 * means(first) + 0.25 * g).detach()
    expected = (u.log() + math.log(4)).mean()
    torch.testing.assert_close(value, expected, rtol=1e-6, atol=1e-7)
    (gradient,) = torch.autograd.grad(value, second)
    (by_hand,) = torch.autograd.grad((g / u).mean(), second)
    torch.testing.assert_close(gradient, by_hand, rtol=1e-5, atol=1e-7)
    assert loss.average.seen.tolist() == [True, False, True, False]


def test_scores_far_apart_keep_the_memory_finite():
    loss = ListNet(num_items=4)
    scores = torch.tensor([-1e4, 1e4, 0.0, 1.0], requires_grad=True)
    for _ in range(2):
        value = loss(scores, torch.tensor([1, 0, 2, 0]), item_ids=torch.arange(4))
    (gradient,) = torch.autograd.grad(value, scores)
    assert value.isfinite()
    assert gradient.isfinite().all()
    assert loss.average.value.isfinite().all()


def test_bad_options_are_named():
    with pytest.raises(ValueError, match="must be one of 'exp', 'uniform', 'linear', got 'log'"):
        ListNet("log")
    with pytest.raises(ValueError, match="printed is for target_distribution='uniform', got"):
        ListNet(printed=True)
    with pytest.raises(ValueError, match="items must be a whole number"):
        ListNet(num_items=0)


def test_without_the_other_relevant_items_a_list_is_a_list_for_each_of_them():
    torch.manual_seed(3)
    scores, target = torch.randn(20), torch.arange(20) < 3
    alone = ListNet("uniform", competitors="negatives")
    single = [
        ListNet("uniform")(torch.cat([scores[i : i + 1], scores[3:]]), torch.arange(18) < 1)
        for i in range(3)
    ]
    torch.testing.assert_close(alone(scores, target), torch.stack(single).mean())


@pytest.mark.parametrize("competitors", ["all", "negatives"])
def test_linear_targets_weigh_items_by_their_relevance(competitors):
    torch.manual_seed(0)
    scores, weight = torch.randn(3, 6).double(), torch.rand(3, 6).double() + 0.5
    relevance = torch.rand(3, 6).double() * (torch.rand(3, 6) < 0.6)
    relevance[:, 0] = 1
    share = weight * relevance / (weight * relevance).sum(-1, keepdim=True)
    mass = weight * scores.exp()
    if competitors == "all":
        surprise = mass.sum(-1, keepdim=True).log() - scores
    else:
        below = (mass * (relevance == 0)).sum(-1, keepdim=True)
        surprise = (below + scores.exp()).log() - scores
    made = ListNet("linear", competitors=competitors, reduction="none")
    found = made(scores, relevance, weight=weight)
    torch.testing.assert_close(found, (share * surprise).sum(-1))
