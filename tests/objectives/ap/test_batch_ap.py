"""AveragePrecision against its formula written out, and the bound it promises."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rankwise.metrics import auprc, average_precision
from rankwise.objectives import AveragePrecision
from rankwise.pairs import OneSidedHuber, OneSidedSigmoid, ZeroOne


def by_hand(scores, target, prior=None, tau=0.3, tau_true=0.01, annealed=True):
    positives, negatives = scores[target], scores[~target]
    above = OneSidedHuber(tau).value(positives[:, None] - negatives).mean(1)
    ranked = OneSidedSigmoid(tau_true).value(positives[:, None] - positives).sum(1) + 1
    ratio = above / (ranked / len(positives)).detach()
    prior = len(positives) / len(scores) if prior is None else prior
    gain = (1 - prior) / prior
    if annealed:
        gain = min(gain, 1 / float(ratio.detach().median()))
    return (gain * ratio / (1 + gain * ratio)).mean()


@pytest.mark.parametrize("annealed", [True, False])
@pytest.mark.parametrize("prior", [None, 0.05])
def test_value_and_gradient_equal_the_formula(prior, annealed):
    torch.manual_seed(0)
    scores = torch.randn(80, dtype=torch.float64, requires_grad=True)
    target = torch.rand(80) < 0.2
    loss = AveragePrecision(prior, gain="annealed" if annealed else "fixed", score_scale=1.0)
    value, expected = loss(scores, target), by_hand(scores, target, prior, annealed=annealed)
    torch.testing.assert_close(value, expected)
    (a,), (b,) = torch.autograd.grad(value, scores), torch.autograd.grad(expected, scores)
    torch.testing.assert_close(a, b)


LIST = st.lists(st.tuples(st.integers(-20, 20), st.booleans()), min_size=2, max_size=30).filter(
    lambda items: 0 < sum(positive for _, positive in items) < len(items)
)


@given(items=LIST, tau=st.sampled_from([0.1, 1.0, 10.0]), prior=st.sampled_from([None, 0.01, 0.5]))
def test_the_fixed_form_bounds_the_metric(items, tau, prior):
    scores = torch.tensor([score / 4 for score, _ in items], dtype=torch.float64)
    target = torch.tensor([positive for _, positive in items])
    loss = AveragePrecision(prior, false_positives=OneSidedHuber(tau), gain="fixed")
    exact = auprc(scores, target, prior=prior) if prior else average_precision(scores, target)
    assert float(loss(scores, target)) >= 1 - float(exact) - 1e-12


def test_with_the_zero_one_loss_it_is_the_metric():
    torch.manual_seed(1)
    scores, target = torch.randn(200, dtype=torch.float64), torch.rand(200) < 0.1
    loss = AveragePrecision(false_positives=ZeroOne(), true_positives=ZeroOne(), gain="fixed")
    torch.testing.assert_close(loss(scores, target), 1 - average_precision(scores, target))


def test_weight_two_counts_twice():
    torch.manual_seed(2)
    scores, target = torch.randn(50, dtype=torch.float64), torch.rand(50) < 0.3
    weight = torch.randint(0, 3, (50,))
    repeated = torch.repeat_interleave(torch.arange(50), weight)
    for gain in ("fixed", "annealed"):
        loss = AveragePrecision(0.1, gain=gain)
        if gain == "annealed":
            weight = weight.clamp(max=1)  # the median is over items
            repeated = torch.repeat_interleave(torch.arange(50), weight)
        torch.testing.assert_close(
            loss(scores, target, weight=weight.double()), loss(scores[repeated], target[repeated])
        )


def test_an_untrained_model_is_not_saturated():
    torch.manual_seed(3)
    scores = torch.randn(5_000, requires_grad=True)
    target = torch.arange(5_000) < 10
    norms = {}
    for gain in ("annealed", "fixed"):
        (gradient,) = torch.autograd.grad(AveragePrecision(gain=gain)(scores, target), scores)
        norms[gain] = float(gradient.norm())
    assert norms["annealed"] > 20 * norms["fixed"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(prior=0.0), r"prior must be None or a number in \(0, 1\), got 0.0; pass the share"),
        (dict(prior="1%"), r"prior must be None or a number in \(0, 1\), got '1%'"),
        (dict(prior=1.5), "prior must be None.*got 1.5"),
        (dict(gain="none"), "gain must be one of 'annealed', 'fixed'"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        AveragePrecision(**options)


def test_gradcheck_where_nothing_is_detached():
    torch.manual_seed(4)
    scores = torch.randn(12, dtype=torch.float64, requires_grad=True)
    target = torch.arange(12) < 4
    loss = AveragePrecision(
        0.1,
        true_positives=OneSidedSigmoid(0.5),
        gain="fixed",
        score_scale=1.0,
        through_tpr=True,
    )
    assert torch.autograd.gradcheck(lambda s: loss(s, target), (scores,), atol=1e-6)


def exact(**options):
    return AveragePrecision(
        false_positives="exponential", true_positives="zero_one", gain="fixed", **options
    )


@pytest.mark.parametrize("outer", ["ap", "log", 0.5])
def test_exponentials_of_huge_scores_stay_finite(outer):
    scores = torch.tensor([1e4, -1e4, 0.0, 5.0], requires_grad=True)
    loss = exact(outer=outer, score_scale=1.0)(scores, torch.tensor([0, 1, 1, 0]))
    loss.backward()
    assert bool(loss.isfinite())
    assert bool(scores.grad.isfinite().all())


def test_the_logarithm_still_pushes_where_the_metric_is_flat():
    target = torch.tensor([1] + [0] * 999)
    slopes = {}
    for outer in ("ap", "log"):
        scores = torch.zeros(1000).scatter(0, torch.tensor([0]), -6.0).requires_grad_()
        exact(outer=outer, score_scale=1.0)(scores, target).backward()
        slopes[outer] = float(-scores.grad[0])
    assert slopes["ap"] < 1e-5
    assert slopes["log"] > 0.9


def test_one_positive_makes_minus_log_precision_a_softmax():
    torch.manual_seed(2)
    scores = torch.randn(5, 30)
    target = torch.zeros(5, 30, dtype=torch.long)
    target[:, 3] = 1
    value = exact(outer="log", score_scale=0.25)(scores, target)
    expected = torch.nn.functional.cross_entropy(scores / 0.25, torch.full((5,), 3))
    torch.testing.assert_close(value, expected)
