"""What is beyond a threshold against all pairs; the minimum over the threshold, which is CVaR."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.lists import split_lists
from rankwise.objectives.partial_auc._cvar import (
    CVaROverNegatives,
    CVaROverPositives,
    excess,
    require_hinge,
)
from rankwise.pairs import Hinge, Logistic, SquaredHinge

SURROGATES = [Hinge(1.0), Hinge(0.3), SquaredHinge(1.0), SquaredHinge(2.5)]


def random_lists(seed, n=40, rows=2, *, weighted=False, requires_grad=False):
    rng = torch.Generator().manual_seed(seed)
    scores = torch.randn(rows, n, dtype=torch.float64, generator=rng)
    target = torch.rand(rows, n, generator=rng) < 0.3
    target[:, :2] = torch.tensor([True, False])
    weight = torch.rand(rows, n, dtype=torch.float64, generator=rng) if weighted else None
    scores.requires_grad_(requires_grad)
    items = torch.arange(rows * n).reshape(rows, n)
    return scores, split_lists(scores, target, weight=weight, item_ids=items)


def all_losses(surrogate, lists):
    """(lists, positives, negatives), and the share of each negative."""
    losses = surrogate.value(lists.positives.unsqueeze(-1) - lists.negatives.unsqueeze(-2))
    return losses, (lists.negative_weight / lists.n_negatives).unsqueeze(-2)


@pytest.mark.parametrize("surrogate", SURROGATES, ids=str)
@given(seed=st.integers(0, 1000), weighted=st.booleans())
@settings(max_examples=10)
def test_excess_equals_all_pairs(surrogate, seed, weighted):
    scores, lists = random_lists(seed, weighted=weighted, requires_grad=True)
    torch.manual_seed(seed)
    threshold = torch.rand(lists.positives.shape, dtype=torch.float64) * 3
    threshold[:, 0] = 0
    above, beyond = excess(surrogate, lists, threshold)
    losses, share = all_losses(surrogate, lists)
    expected = ((losses - threshold.unsqueeze(-1)).clamp_min(0) * share).sum(-1)
    torch.testing.assert_close(above, expected)
    torch.testing.assert_close(beyond, ((losses > threshold.unsqueeze(-1)) * share).sum(-1))
    a, b = (
        torch.autograd.grad(t.pow(2).sum(), scores, retain_graph=True)[0] for t in (above, expected)
    )
    torch.testing.assert_close(a, b)


def test_excess_on_the_sorted_engine():
    """Enough pairs that prefix sums are taken and not blocks of all pairs."""
    _, lists = random_lists(0, n=600, rows=1)
    torch.manual_seed(0)
    threshold = torch.rand(lists.positives.shape, dtype=torch.float64) * 3
    for surrogate in SURROGATES:
        above, beyond = excess(surrogate, lists, threshold)
        losses, share = all_losses(surrogate, lists)
        expected = ((losses - threshold.unsqueeze(-1)).clamp_min(0) * share).sum(-1)
        torch.testing.assert_close(above, expected)
        torch.testing.assert_close(beyond, ((losses > threshold.unsqueeze(-1)) * share).sum(-1))


@pytest.mark.parametrize("surrogate", SURROGATES, ids=str)
@pytest.mark.parametrize("level", [0.03, 0.25, 0.7, 1.0])
def test_the_first_visit_is_the_minimum_over_the_threshold(surrogate, level):
    """The objective is convex and piecewise linear in λ: its minimum is at one of the losses."""
    _, lists = random_lists(3, rows=1, weighted=True)
    value, _ = CVaROverNegatives(surrogate, level, 40, 0.1)(lists)
    losses, share = (t[0] for t in all_losses(surrogate, lists))
    candidates = torch.cat([losses, torch.zeros_like(losses[:, :1])], 1).unsqueeze(-1)
    above = ((losses.unsqueeze(1) - candidates).clamp_min(0) * share).sum(-1)
    best = (candidates.squeeze(-1) + above / level).min(1).values
    torch.testing.assert_close(value[0], best)


def test_the_start_is_the_quantile_of_the_batch():
    scores = torch.tensor([[0.0, 2.0, -1.0, -2.0, 1.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0]])
    target = torch.tensor([[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]])
    items = torch.arange(11).unsqueeze(0) + 4
    lists = split_lists(scores, target, item_ids=items)
    inner = CVaROverNegatives(Hinge(1.0), 0.25, 20, 0.1)
    value, (update,) = inner(lists)
    # Two and a half of ten negatives: 2, 1 and half of −1.
    torch.testing.assert_close(value, torch.tensor([[(3 + 2 + 0.5 * 0) / 2.5]]))
    assert update.ids.tolist() == [4]
    assert update.estimates.tolist() == [[0.0]]


def test_over_positives_first_the_exact_mean_then_the_threshold():
    _, lists = random_lists(0, rows=1)
    n = lists.positives.shape[-1]
    values = torch.arange(1.0, n + 1, dtype=torch.float64).unsqueeze(0)
    outer = CVaROverPositives(1 / n, 40, ema_rate=1.0, step=0.1)
    first, (_, start) = outer(values, lists)
    torch.testing.assert_close(first, torch.tensor([n], dtype=torch.float64))
    assert start.estimates.item() == n
    outer.thresholds.value.fill_(n - 1.5)
    outer.thresholds.seen.fill_(True)
    later, (_, step) = outer(values, lists)
    torch.testing.assert_close(later.item(), n - 1.5 + n * (1.5 + 0.5) / n)
    torch.testing.assert_close(step.estimates.item(), n - 1.5 - 0.1 * (1 - n * 2 / n))


def test_other_surrogates_are_refused():
    with pytest.raises(ValueError, match=r"must be Hinge or SquaredHinge .* got Logistic"):
        require_hinge(Logistic())
