from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.objectives.auc import CompositionalAUC, PairwiseAUC
from rankwise.pairs import Square


def sample(n=40, seed=0):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(n, dtype=torch.float64, generator=generator)
    target = torch.rand(n, generator=generator) < 0.3
    target[:2] = torch.tensor([True, False])
    return scores, target


@given(seed=st.integers(0, 1000), margin=st.sampled_from([0.5, 1.0, 3.0]))
@settings(max_examples=20)
def test_the_square_is_the_pairwise_loss(seed, margin):
    scores, target = sample(seed=seed)
    scores.requires_grad_()
    weight = torch.randint(1, 4, (40,), generator=torch.Generator().manual_seed(seed)).double()
    value = CompositionalAUC("square", margin)(scores, target, weight=weight)
    expected = PairwiseAUC(Square(margin))(scores, target, weight=weight)
    torch.testing.assert_close(value, expected, rtol=1e-12, atol=1e-12)
    (a,), (b,) = torch.autograd.grad(value, scores), torch.autograd.grad(expected, scores)
    torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("f", ["square", "squared_hinge"])
def test_a_and_b_at_their_optimum_need_no_gradient(f):
    """Envelope theorem: the class means held still give the same gradient of the scores."""
    scores, target = sample()
    scores.requires_grad_()
    positives, negatives = scores[target], scores[~target]
    a, b = positives.mean().detach(), negatives.mean().detach()
    slack = 1 + negatives.mean() - positives.mean()
    outer = slack**2 if f == "square" else slack.clamp_min(0) ** 2
    still = ((positives - a) ** 2).mean() + ((negatives - b) ** 2).mean() + outer
    (expected,) = torch.autograd.grad(still, scores)
    value = CompositionalAUC(f)(scores, target)
    torch.testing.assert_close(value, still)
    torch.testing.assert_close(torch.autograd.grad(value, scores)[0], expected)


def test_no_other_a_and_b_give_less():
    scores, target = sample()
    positives, negatives = scores[target], scores[~target]
    slack = (1 + negatives.mean() - positives.mean()).clamp_min(0)
    value = CompositionalAUC()(scores, target)
    for a in torch.linspace(-2, 2, 41):
        for b in torch.linspace(-2, 2, 41):
            other = ((positives - a) ** 2).mean() + ((negatives - b) ** 2).mean() + slack**2
            assert value <= other + 1e-12


def test_four_items_by_hand():
    scores, target = torch.tensor([4.0, 2.0, 0.0, 1.0]), torch.tensor([1, 1, 0, 0])
    # means 3 and .5, variances 1 and .25: the gap of 2.5 is beyond the margin of 1
    assert CompositionalAUC()(scores, target).item() == 1.25
    assert CompositionalAUC("square")(scores, target).item() == 1.25 + (1 - 2.5) ** 2
    assert CompositionalAUC(margin=3.0)(scores, target).item() == 1.25 + (3 - 2.5) ** 2


@pytest.mark.parametrize("f", ["square", "squared_hinge"])
def test_gradcheck_twice(f):
    scores, target = sample(12)
    scores.requires_grad_()
    loss = CompositionalAUC(f)
    assert torch.autograd.gradcheck(lambda s: loss(s, target), (scores,))
    assert torch.autograd.gradgradcheck(lambda s: loss(s, target), (scores,))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_far_from_zero_the_digits_of_the_scores_are_kept(dtype):
    scores, target = sample(2_000)
    given = (8_000 + 100 * scores).to(dtype).requires_grad_()
    value = CompositionalAUC()(given, target)
    assert value.dtype == torch.float32
    exact = given.detach().double().requires_grad_()
    expected = CompositionalAUC()(exact, target)
    torch.testing.assert_close(value.double(), expected, rtol=1e-6, atol=0)
    (gradient,) = torch.autograd.grad(value, given)
    (wanted,) = torch.autograd.grad(expected, exact)
    torch.testing.assert_close(gradient, wanted.to(dtype))


def test_weight_two_counts_twice():
    scores, target = sample()
    weight = torch.randint(0, 4, (40,), generator=torch.Generator().manual_seed(1))
    copies = torch.repeat_interleave(torch.arange(40), weight)
    loss = CompositionalAUC()
    torch.testing.assert_close(
        loss(scores, target, weight=weight.double()), loss(scores[copies], target[copies])
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(f="hinge"), "f must be one of 'squared_hinge', 'square', got 'hinge'"),
        (dict(margin=0.0), "margin must be a finite number > 0"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        CompositionalAUC(**options)
