"""TwoWayPartialAUC: the metric it stands for, two steps of both memories by hand, the bias."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.objectives.partial_auc.data import biases, fixed_scores
from tests.objectives.rows.partial_auc import mean_of_largest

from rankwise.metrics import two_way_partial_auroc
from rankwise.objectives.partial_auc import PartialAUC, TwoWayPartialAUC
from rankwise.pairs import Hinge, SquaredHinge, ZeroOne


def random_list(n=40, seed=0, levels=None):
    rng = torch.Generator().manual_seed(seed)
    scores = torch.randn(n, dtype=torch.float64, generator=rng)
    if levels is not None:
        scores = (scores * levels).round()
    target = torch.rand(n, generator=rng) < 0.4
    target[:2] = torch.tensor([True, False])
    return scores, target


@pytest.mark.parametrize(("min_tpr", "max_fpr"), [(0, 1), (0.5, 0.3), (0.9, 0.1), (0.99, 0.01)])
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@given(seed=st.integers(0, 1000), levels=st.sampled_from([None, 2]))
@settings(max_examples=10)
def test_with_zero_one_it_is_one_minus_the_metric(min_tpr, max_fpr, weights, seed, levels):
    scores, target = random_list(seed=seed, levels=levels)
    weight = None
    if weights != "none":
        rng = torch.Generator().manual_seed(seed)
        weight = torch.rand(len(scores), dtype=torch.float64, generator=rng) * 3 + 0.1
        weight = weight.ceil() if weights == "whole" else weight
    loss = TwoWayPartialAUC(min_tpr, max_fpr, surrogate=ZeroOne())(scores, target, weight=weight)
    metric = two_way_partial_auroc(
        scores, target, min_tpr=min_tpr, max_fpr=max_fpr, weight=weight, ties="against"
    )
    torch.testing.assert_close(loss.item(), 1 - float(metric))


@pytest.mark.parametrize("form", ["direct", "cvar"])
def test_with_all_positives_it_is_the_one_way_form(form):
    scores, target = random_list(50)
    two = TwoWayPartialAUC(0.0, 0.3, form)(scores, target)
    torch.testing.assert_close(two, PartialAUC(0.3, form=form)(scores, target))


def test_cvar_is_the_direct_form_where_both_numbers_are_whole():
    torch.manual_seed(0)
    scores, target = torch.randn(30, dtype=torch.float64), torch.arange(30) < 10
    two = [TwoWayPartialAUC(0.4, 0.25, form)(scores, target) for form in ("direct", "cvar")]
    torch.testing.assert_close(two[1], two[0])


@pytest.mark.parametrize("surrogate", [Hinge(1.0), SquaredHinge(1.0)], ids=str)
def test_temperatures_from_the_worst_pair_to_the_mean_of_all(surrogate):
    scores, target = random_list(50)
    losses = surrogate.value(scores[target][:, None] - scores[~target])
    for inner, outer, expected in (
        (1e-4, 1e-4, losses.max()),
        (1e6, 1e-4, losses.mean(1).max()),
        (1e-4, 1e6, losses.amax(1).mean()),
        (1e6, 1e6, losses.mean()),
    ):
        loss = TwoWayPartialAUC(
            0.5,
            0.5,
            "kl",
            surrogate=surrogate,
            temperature=inner,
            positive_temperature=outer,
        )
        torch.testing.assert_close(loss(scores, target), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("form", ["direct", "cvar", "kl"])
def test_gradcheck(form):
    scores, target = random_list(20, seed=4)
    loss = TwoWayPartialAUC(0.3, 0.4, form)
    assert torch.autograd.gradcheck(lambda s: loss(s, target), scores.requires_grad_())


def two_batches():
    torch.manual_seed(5)
    target = torch.arange(15) < 5
    item_ids = torch.arange(15) + 3
    first, second = torch.randn(2, 15, dtype=torch.float64)
    return first.requires_grad_(), second.requires_grad_(), target, item_ids


def test_two_steps_of_kl_by_hand():
    first, second, target, item_ids = two_batches()
    inner, outer, gamma, positive_gamma = 0.5, 0.8, 0.3, 0.6
    loss = TwoWayPartialAUC(
        0.5,
        0.2,
        "kl",
        temperature=inner,
        positive_temperature=outer,
        num_items=20,
        ema_rate=gamma,
        positive_ema_rate=positive_gamma,
    )
    loss(first, target, item_ids=item_ids)
    value = loss(second, target, item_ids=item_ids)
    g1, g2 = (
        (Hinge(1.0).value(s[target][:, None] - s[~target]) / inner).exp().mean(1)
        for s in (first, second)
    )
    power = inner / outer
    u = ((1 - gamma) * g1 + gamma * g2).detach()
    v1, v2 = (g1**power).mean().detach(), (u**power).mean()
    v = (1 - positive_gamma) * v1 + positive_gamma * v2
    torch.testing.assert_close(value, outer * v.log(), rtol=1e-5, atol=1e-6)
    (gradient,) = torch.autograd.grad(value, second)
    carrier = outer / v * (power * u ** (power - 1) * g2).mean()
    (expected,) = torch.autograd.grad(carrier, second)
    torch.testing.assert_close(gradient, expected, rtol=1e-5, atol=1e-7)


def test_two_steps_of_cvar_by_hand():
    first, second, target, item_ids = two_batches()
    loss = TwoWayPartialAUC(0.5, 0.25, "cvar", num_items=20, ema_rate=0.7, threshold_rate=0.2)

    def losses(scores):
        return SquaredHinge(1.0).value(scores[target][:, None] - scores[~target])

    value = loss(first, target, item_ids=item_ids)
    before = mean_of_largest(losses(first), 2.5)
    torch.testing.assert_close(value, mean_of_largest(before, 2.5), rtol=1e-6, atol=1e-6)
    lam = losses(first).sort(1, descending=True).values[:, 2].detach()
    nu = before.sort(descending=True).values[2].detach()
    memory = loss.over_positives.thresholds
    torch.testing.assert_close(memory.value[0, 0].double(), nu, rtol=1e-6, atol=1e-6)
    value = loss(second, target, item_ids=item_ids)
    now = lam + (losses(second) - lam[:, None]).clamp_min(0).mean(1) / 0.25
    u = (0.3 * before + 0.7 * now).detach()
    expected = nu + (u - nu).clamp_min(0).mean() / 0.5
    torch.testing.assert_close(value, expected, rtol=1e-5, atol=1e-6)
    (gradient,) = torch.autograd.grad(value, second)
    (carrier,) = torch.autograd.grad(((u > nu) * now).mean() / 0.5, second)
    torch.testing.assert_close(gradient, carrier, rtol=1e-5, atol=1e-6)
    stepped = nu - 0.2 * (1 - (u > nu).double().mean() / 0.5)
    torch.testing.assert_close(memory.value[0, 0].double(), stepped, rtol=1e-5, atol=1e-6)


def test_the_memory_of_kl_is_nearer_to_all_the_data_than_a_batch():
    scores = fixed_scores()

    def make(num_items):
        return TwoWayPartialAUC(
            0.5, 0.1, "kl", num_items=num_items, ema_rate=0.05, positive_ema_rate=0.1
        )

    batch, memory = biases(make, scores)
    assert batch < -0.05
    assert abs(memory) < 0.2 * abs(batch)


def test_the_thresholds_of_cvar_are_nearer_to_all_the_data_than_a_batch():
    scores = fixed_scores()

    def make(num_items):
        return TwoWayPartialAUC(0.5, 0.1, "cvar", num_items=num_items, ema_rate=0.05)

    batch, memory = biases(make, scores)
    assert batch < -0.05
    assert abs(memory) < 0.2 * abs(batch)


def test_lists_share_the_outer_memory():
    torch.manual_seed(2)
    scores = torch.randn(3, 12, requires_grad=True)
    target = torch.arange(12).expand(3, 12) < 4
    item_ids = torch.arange(36).reshape(3, 12)
    for form, part in (("kl", "average"), ("cvar", "thresholds")):
        loss = TwoWayPartialAUC(0.5, 0.3, form, num_items=36)
        loss(scores, target, item_ids=item_ids)
        assert getattr(loss.over_positives, part).value.shape == (1, 1)
        assert bool(getattr(loss.over_negatives, part).seen[item_ids[target]].all())


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
@pytest.mark.parametrize("num_items", [None, 6])
def test_kl_of_huge_scores_at_small_temperatures(dtype, num_items):
    target = torch.tensor([1, 1, 0, 0, 0, 1])
    loss = TwoWayPartialAUC(
        0.5,
        0.1,
        "kl",
        surrogate=SquaredHinge(1.0),
        temperature=1e-3,
        positive_temperature=1e-3,
        num_items=num_items,
    )
    for factor in (1.0, -1.0, 1e-4):
        scores = (factor * torch.tensor([1e4, -1e4, 0.0, 1e4, -1e4, 5.0])).to(dtype)
        item_ids = {} if num_items is None else {"item_ids": torch.arange(6)}
        value = loss(scores.requires_grad_(), target, **item_ids)
        (gradient,) = torch.autograd.grad(value, scores)
        assert torch.isfinite(value)
        assert torch.isfinite(gradient).all()


def test_as_printed_the_number_of_positives_is_rounded_down():
    """The loss of EXM has ⌊3 · .5⌋ = 1 positive, its estimator and the default ⌈3 · .5⌉ = 2."""
    scores = torch.tensor([4.0, 1.0, 3.0, 2.0, 0.0, -1.0], dtype=torch.float64)
    target = torch.tensor([1, 1, 1, 0, 0, 0])
    options = {"min_tpr": 0.5, "max_fpr": 0.7, "surrogate": Hinge(1.0)}  # negatives 2 and 0
    assert TwoWayPartialAUC(**options, printed=True)(scores, target) == (2 + 0) / 2
    assert TwoWayPartialAUC(**options)(scores, target) == (2 + 0 + 0 + 0) / 4
    whole = {"min_tpr": 1 / 3, "max_fpr": 0.7, "surrogate": Hinge(1.0)}  # 2 positives, both ways
    both = [TwoWayPartialAUC(**whole, printed=p)(scores, target) for p in (True, False)]
    assert both[0] == both[1]


def test_bad_options_are_named():
    for form in ("cvar", "kl"):
        with pytest.raises(ValueError, match=f"printed is for form='direct'.* form='{form}'"):
            TwoWayPartialAUC(0.5, 0.5, form, printed=True)
    with pytest.raises(ValueError, match=r"min_tpr must be in \[0, 1\), got 1.0"):
        TwoWayPartialAUC(1.0, 0.5)
    with pytest.raises(ValueError, match=r"max_fpr must be in \(0, 1\], got 0"):
        TwoWayPartialAUC(0.5, 0)
    with pytest.raises(ValueError, match="positive_temperature must be given"):
        TwoWayPartialAUC(0.0, 0.5, "kl")
    with pytest.raises(ValueError, match="positive_temperature is for form='kl'"):
        TwoWayPartialAUC(0.5, 0.5, "cvar", positive_temperature=1.0)
