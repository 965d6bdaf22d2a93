"""PartialAUC: its metric, the forms beside each other, two steps by hand, the bias."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.objectives.partial_auc.data import biases, fixed_scores

from rankwise.metrics import auroc, partial_auroc
from rankwise.objectives.partial_auc import PartialAUC
from rankwise.pairs import Hinge, SquaredHinge, ZeroOne


def random_list(n=40, seed=0, levels=None):
    rng = torch.Generator().manual_seed(seed)
    scores = torch.randn(n, dtype=torch.float64, generator=rng)
    if levels is not None:
        scores = (scores * levels).round()
    target = torch.rand(n, generator=rng) < 0.3
    target[:2] = torch.tensor([True, False])
    return scores, target


RANGES = [(0.0, 1.0), (0.0, 0.3), (0.1, 0.3), (0.0, 0.01), (0.97, 1.0), (0.3, 0.31)]


@pytest.mark.parametrize(("low", "high"), RANGES)
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@given(seed=st.integers(0, 1000), levels=st.sampled_from([None, 2]))
@settings(max_examples=10)
def test_with_zero_one_it_is_one_minus_the_metric(low, high, weights, seed, levels):
    scores, target = random_list(seed=seed, levels=levels)
    weight = None
    if weights != "none":
        rng = torch.Generator().manual_seed(seed)
        weight = torch.rand(len(scores), dtype=torch.float64, generator=rng) * 3 + 0.1
        weight = weight.ceil() if weights == "whole" else weight
    loss = PartialAUC(high, low, surrogate=ZeroOne())(scores, target, weight=weight)
    metric = partial_auroc(scores, target, min_fpr=low, max_fpr=high, weight=weight, ties="against")
    torch.testing.assert_close(loss.item(), 1 - float(metric))


def necessity_of_partial_auc():
    """EXM: 2 positives and 100 negatives, those of one model's order and of the other's."""
    first = [0, 0, 1, 1] + [0] * 98
    second = [1, 0, 0, 0, 0, 1] + [0] * 96
    scores = -torch.arange(102.0) / 10
    return scores, torch.tensor(first), torch.tensor(second)


def test_two_models_of_equal_auc():
    scores, first, second = necessity_of_partial_auc()
    for target, expected in ((first, 0.0), (second, 0.5)):
        assert float(auroc(scores, target)) == pytest.approx(0.98)
        assert float(partial_auroc(scores, target, max_fpr=0.02)) == expected
        assert PartialAUC(0.02, surrogate=ZeroOne())(scores, target).item() == 1 - expected
    for surrogate in (Hinge(1.0), SquaredHinge(1.0)):
        for form in ("direct", "cvar"):
            loss = PartialAUC(0.02, form=form, surrogate=surrogate)
            assert loss(scores, second) < loss(scores, first)
    # By hand: the two highest negatives at 0 and −.1 against −.2 and −.3; at −.1 and −.2 against
    # 0 and −.5.
    hinge = PartialAUC(0.02, surrogate=Hinge(1.0))
    torch.testing.assert_close(hinge(scores, first).item(), (1.2 + 1.1 + 1.3 + 1.2) / 4)
    torch.testing.assert_close(hinge(scores, second).item(), (0.9 + 0.8 + 1.4 + 1.3) / 4)


@pytest.mark.parametrize("surrogate", [Hinge(0.4), SquaredHinge(1.0)], ids=str)
def test_cvar_is_the_direct_form_where_the_number_of_negatives_is_whole(surrogate):
    rng = torch.Generator().manual_seed(3)
    scores = torch.randn(27, dtype=torch.float64, generator=rng, requires_grad=True)
    target = torch.arange(27) < 7
    for max_fpr in (0.05, 0.3, 1.0):
        direct, cvar = (
            PartialAUC(max_fpr, form=form, surrogate=surrogate)(scores, target)
            for form in ("direct", "cvar")
        )
        torch.testing.assert_close(cvar, direct)
        a, b = (torch.autograd.grad(value, scores)[0] for value in (cvar, direct))
        torch.testing.assert_close(a, b)
    between = [
        PartialAUC(f, form="cvar", surrogate=surrogate)(scores, target) for f in (0.3, 0.32, 0.35)
    ]
    assert between[0] > between[1] > between[2]


def test_only_what_is_selected_has_a_gradient():
    scores, target = random_list(60)
    scores.requires_grad_()
    loss = PartialAUC(0.2, 0.1)(scores, target)
    (gradient,) = torch.autograd.grad(loss, scores)
    negatives = scores[~target].detach()
    n = len(negatives)
    ranked = negatives.sort(descending=True).values[math.ceil(0.1 * n) : math.floor(0.2 * n)]
    moved = scores.detach()[(gradient > 0) & ~target]
    assert sorted(moved.tolist()) == sorted(ranked.tolist())


@pytest.mark.parametrize("form", ["direct", "cvar", "kl"])
def test_gradcheck(form):
    scores, target = random_list(20, seed=4)
    loss = PartialAUC(0.4, form=form)
    assert torch.autograd.gradcheck(lambda s: loss(s, target), scores.requires_grad_())


def two_batches():
    torch.manual_seed(5)
    target = torch.arange(14) < 4
    item_ids = torch.arange(14) + 3
    first, second = torch.randn(2, 14, dtype=torch.float64)
    return first.requires_grad_(), second.requires_grad_(), target, item_ids


def pair_losses(surrogate, scores, target):
    return surrogate.value(scores[target][:, None] - scores[~target])


def test_two_steps_of_kl_by_hand():
    first, second, target, item_ids = two_batches()
    loss = PartialAUC(0.2, form="kl", temperature=0.5, num_items=20, ema_rate=0.3)
    loss(first, target, item_ids=item_ids)
    value = loss(second, target, item_ids=item_ids)
    g1, g2 = ((pair_losses(Hinge(1.0), s, target) / 0.5).exp().mean(1) for s in (first, second))
    u = (0.7 * g1 + 0.3 * g2).detach()
    torch.testing.assert_close(value, (0.5 * u.log()).mean(), rtol=1e-5, atol=1e-6)
    (gradient,) = torch.autograd.grad(value, second)
    (expected,) = torch.autograd.grad((0.5 * g2 / u).mean(), second)
    torch.testing.assert_close(gradient, expected, rtol=1e-5, atol=1e-7)
    kept = loss.over_negatives.average.value[3:7, 0].double()
    torch.testing.assert_close(kept, u.log(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("surrogate", [Hinge(1.0), SquaredHinge(1.0)], ids=str)
def test_two_steps_of_cvar_by_hand(surrogate):
    first, second, target, item_ids = two_batches()
    loss = PartialAUC(0.25, form="cvar", surrogate=surrogate, num_items=20, threshold_rate=0.2)
    loss(first, target, item_ids=item_ids)
    # A quarter of ten negatives: the third largest loss is the quantile.
    start = pair_losses(surrogate, first.detach(), target).sort(1, descending=True).values[:, 2]
    memory = loss.over_negatives.thresholds
    torch.testing.assert_close(memory.value[3:7, 0].double(), start, rtol=1e-6, atol=1e-6)
    value = loss(second, target, item_ids=item_ids)
    losses = pair_losses(surrogate, second, target)
    expected = (start + (losses - start[:, None]).clamp_min(0).mean(1) / 0.25).mean()
    torch.testing.assert_close(value, expected, rtol=1e-5, atol=1e-6)
    a, b = (torch.autograd.grad(v, second)[0] for v in (value, expected))
    torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)
    beyond = (losses > start[:, None]).double().mean(1)
    stepped = (start - 0.2 * (1 - beyond / 0.25)).clamp_min(0)
    torch.testing.assert_close(memory.value[3:7, 0].double(), stepped, rtol=1e-5, atol=1e-6)
    assert memory.seen.nonzero().flatten().tolist() == [3, 4, 5, 6]


def test_an_item_seen_and_one_not_seen_in_one_batch():
    first, second, target, item_ids = two_batches()
    loss = PartialAUC(0.25, form="cvar", num_items=40)
    loss(first, target, item_ids=item_ids)
    start = loss.over_negatives.thresholds.value[3:5, 0].double()
    moved = torch.where(torch.isin(torch.arange(14), torch.tensor([2, 3])), item_ids + 20, item_ids)
    value = loss(second, target, item_ids=moved)
    losses = pair_losses(SquaredHinge(1.0), second, target)
    known = start + (losses[:2] - start[:, None]).clamp_min(0).mean(1) / 0.25
    ranked = losses[2:].sort(1, descending=True).values
    new = (ranked[:, 0] + ranked[:, 1] + 0.5 * ranked[:, 2]) / 2.5
    torch.testing.assert_close(value, torch.cat([known, new]).mean(), rtol=1e-5, atol=1e-6)


def test_the_memory_of_kl_is_nearer_to_all_the_data_than_a_batch():
    scores = fixed_scores()

    def make(num_items):
        return PartialAUC(0.1, form="kl", num_items=num_items, ema_rate=0.05)

    batch, memory = biases(make, scores)
    assert batch < -0.05
    assert abs(memory) < 0.2 * abs(batch)


def test_the_memory_of_cvar_is_nearer_to_all_the_data_than_a_batch():
    scores = fixed_scores()

    def make(num_items):
        return PartialAUC(0.1, form="cvar", num_items=num_items, threshold_rate=0.1)

    batch, memory = biases(make, scores)
    assert batch < -0.05
    assert abs(memory) < 0.2 * abs(batch)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
@pytest.mark.parametrize("surrogate", [Hinge(1.0), SquaredHinge(1.0)], ids=str)
@pytest.mark.parametrize("num_items", [None, 6])
def test_kl_of_huge_scores_at_a_small_temperature(dtype, surrogate, num_items):
    target = torch.tensor([1, 1, 0, 0, 0, 1])
    loss = PartialAUC(0.1, form="kl", surrogate=surrogate, temperature=1e-3, num_items=num_items)
    for factor in (1.0, -1.0, 1e-4):  # a memory of one extreme meets the other
        scores = (factor * torch.tensor([1e4, -1e4, 0.0, 1e4, -1e4, 5.0])).to(dtype)
        item_ids = {} if num_items is None else {"item_ids": torch.arange(6)}
        value = loss(scores.requires_grad_(), target, **item_ids)
        (gradient,) = torch.autograd.grad(value, scores)
        assert torch.isfinite(value)
        assert torch.isfinite(gradient).all()


def test_the_first_visit_has_the_gradient_of_the_batch():
    """Also where the logarithms are so large that the memory does not hold all their digits."""
    scores, target = random_list(seed=6)
    scores = (1000 * scores).requires_grad_()
    for form, options in (("kl", {"temperature": 1e-3}), ("cvar", {})):
        gradients = []
        for beside in ({}, {"num_items": 40}):
            item_ids = {"item_ids": torch.arange(40)} if beside else {}
            loss = PartialAUC(0.13, form=form, **options, **beside)
            (gradient,) = torch.autograd.grad(loss(scores, target, **item_ids), scores)
            gradients.append(gradient)
        torch.testing.assert_close(*gradients, rtol=1e-5, atol=1e-6)


def test_training_raises_the_metric():
    torch.manual_seed(1)
    x = torch.randn(400, 3)
    target = x[:, 0] + 0.5 * x[:, 1] + 0.5 * torch.randn(400) > 1
    for options in ({}, {"form": "cvar", "num_items": 400}, {"form": "kl", "num_items": 400}):
        loss, weights = PartialAUC(0.1, **options), torch.zeros(3, requires_grad=True)
        for step in range(60):
            batch = torch.randperm(400, generator=torch.Generator().manual_seed(step))[:80]
            item_ids = {"item_ids": batch} if "num_items" in options else {}
            value = loss(x[batch] @ weights, target[batch], **item_ids)
            (gradient,) = torch.autograd.grad(value, weights)
            weights = (weights - 0.1 * gradient).detach().requires_grad_()
        best = x @ torch.tensor([1.0, 0.5, 0.0])
        reached, bound = (
            float(partial_auroc(s, target, max_fpr=0.1)) for s in ((x @ weights).detach(), best)
        )
        assert reached > bound - 0.05


def test_bad_options_are_named():
    with pytest.raises(ValueError, match=r"0 <= min_fpr < max_fpr <= 1, got min_fpr=0\.5"):
        PartialAUC(0.3, 0.5)
    with pytest.raises(ValueError, match="min_fpr must be 0 for form='kl'"):
        PartialAUC(0.3, 0.1, "kl")
    with pytest.raises(ValueError, match="num_items is for form='cvar' or 'kl'"):
        PartialAUC(0.3, num_items=5)
    with pytest.raises(ValueError, match="temperature must be given"):
        PartialAUC(1.0, form="kl")


def test_what_it_prints_makes_it_again():
    loss = PartialAUC(0.1, form="kl", surrogate=SquaredHinge(1.0), temperature=1.0, num_items=9)
    assert repr(loss) == (
        "PartialAUC(max_fpr=0.1, form='kl', surrogate=SquaredHinge(margin=1.0), "
        "temperature=1.0, num_items=9)"
    )
