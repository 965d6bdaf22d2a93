"""Scores and weights at the ends of their range: finite results, or one clear sentence."""

from __future__ import annotations

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.every_loss import every_loss
from tests.objectives.contract import all_rows, call

from rankwise.baselines import Triplet
from rankwise.checks import LARGEST_SCORE, LARGEST_WEIGHT, SMALLEST_WEIGHT
from rankwise.metrics import ndcg
from rankwise.objectives import AveragePrecision, PairwiseAUC

every = pytest.mark.parametrize("loss", every_loss(), ids=str)
ROWS = all_rows()
TOO_LARGE = r"(must lie between -1e\+15 and 1e\+15, got values from|contains infinite values)"
MOST_HALF = torch.finfo(torch.float16).max


def value_and_gradient(loss, scores):
    scores = scores.detach().clone().requires_grad_()
    value = loss.at(scores)
    return value.detach(), torch.autograd.grad(value, scores)[0]


@every
@pytest.mark.parametrize("size", [1e-45, 1e-39, 1e-20, 1e10, LARGEST_SCORE / 4])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_scores_of_any_size_have_finite_losses(loss, size, dtype):
    scores = (loss.scores.clamp(-4, 4) * size).float().to(dtype)
    for found in value_and_gradient(loss, scores):
        assert found.isfinite().all()


@every
def test_scores_of_all_sizes_together_have_finite_losses(loss):
    scores = loss.scores.float()
    flat = scores.view(-1)
    flat[0], flat[1], flat[2], flat[3] = LARGEST_SCORE, -LARGEST_SCORE, 1e-45, 0
    for found in value_and_gradient(loss, scores):
        assert found.isfinite().all()


@every
@pytest.mark.parametrize("size", [2e15, 1e19, 3e38])
def test_larger_scores_are_refused_or_have_finite_losses(loss, size):
    scores = loss.scores.float() / loss.scores.abs().max() * size
    try:
        results = value_and_gradient(loss, scores)
    except ValueError as error:
        assert "must lie between" in str(error) or "infinite" in str(error)  # noqa: PT017
    else:
        assert all(found.isfinite().all() for found in results)


@every
@pytest.mark.parametrize("size", [1e-7, 1.0, 2e4])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_overflows_only_where_the_gradient_does(loss, size, dtype):
    scores = (loss.scores.clamp(-3, 3) * size).to(dtype)
    value, gradient = value_and_gradient(loss, scores)
    assert value.isfinite()
    assert not gradient.isnan().any()
    if gradient.isinf().any():
        _, wide = value_and_gradient(loss, scores.float())
        assert dtype == torch.float16
        assert wide.abs().max() > MOST_HALF / 2


@pytest.mark.parametrize("row", ROWS, ids=str)
@pytest.mark.parametrize("size", [SMALLEST_WEIGHT, 1e-10, 1e7])
@pytest.mark.parametrize("one", [True, False])
def test_weights_of_any_size_have_finite_losses(row, size, one):
    scores, target = (t.float() if t.is_floating_point() else t for t in row.data(40))
    weight = torch.ones(40)
    weight[3 if one else slice(None)] = size
    scores.requires_grad_()
    try:
        value = call(row.rescaled(), scores, target, weight=weight)
    except ValueError as error:
        too_many = "weight must add up to at most" in str(error) and size > 1
        assert too_many or "weight must be 0 or 1 for an inner function" in str(error)  # noqa: PT017
        return
    assert value.isfinite()
    assert torch.autograd.grad(value, scores)[0].isfinite().all()


@pytest.mark.parametrize("n", [40, 900])
def test_a_mean_over_tiny_weights_of_large_scores_keeps_its_gradient(n):
    gradients = []
    for size in (1.0, SMALLEST_WEIGHT):
        scores = (torch.linspace(-1, 1, n) * LARGEST_SCORE / 4).requires_grad_()
        value = PairwiseAUC()(scores, torch.arange(n) % 2, weight=torch.full((n,), size))
        gradients.append(torch.autograd.grad(value, scores)[0])
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("violating_only", [False, True])
def test_a_mean_over_triplets_does_not_depend_on_the_scale_of_the_weights(violating_only):
    loss, target = Triplet(violating_only=violating_only), torch.arange(40) % 2
    scores = torch.linspace(-1, 1, 40)
    tiny = loss(scores, target, weight=torch.full((40,), SMALLEST_WEIGHT))
    torch.testing.assert_close(tiny, loss(scores, target))


@pytest.mark.parametrize("row", ROWS, ids=str)
@pytest.mark.parametrize("size", [1e-45, SMALLEST_WEIGHT / 2, 2 * LARGEST_WEIGHT, 1e30])
def test_other_weights_are_refused(row, size):
    scores, target = row.data(40)
    weight = torch.ones(40)
    weight[3], weight[4] = size, 0
    with pytest.raises(ValueError, match=r"weight must be 0 or (between 1e-30 and 1e\+15, got|1)"):
        call(row.objective(), scores, target, weight=weight)


def test_ranks_of_ndcg_are_limited_before_they_take_the_memory():
    scores, relevance = torch.tensor([2.0, 1.0]), torch.tensor([1.0, 0.0])
    weight = torch.tensor([1e9, 1.0])
    with pytest.raises(ValueError, match="weight must add up to at most 67108864 in a list"):
        ndcg(scores, relevance, weight=weight)
    assert ndcg(scores, relevance, weight=weight, k=3) == 1


@given(exponent=st.floats(-45, 15), seed=st.integers(0, 99))
@example(exponent=-17.75, seed=10)  # the smaller scores are just below the floor
@settings(max_examples=60)
def test_the_automatic_scale_has_a_floor(exponent, seed):
    scores = torch.randn(20, generator=torch.Generator().manual_seed(seed)) * 10**exponent
    scores = scores.clamp(-1e15, 1e15).requires_grad_()
    value = AveragePrecision()(scores, torch.arange(20) % 3 == 0)
    (gradient,) = torch.autograd.grad(value, scores)
    assert value.isfinite()
    assert gradient.isfinite().all()
    # Above the floor nothing is changed: the loss does not depend on the size of the scores.
    smaller = scores * 2**-3
    if smaller.double().var(correction=0) > torch.finfo(torch.float32).tiny:
        again = AveragePrecision()(smaller, torch.arange(20) % 3 == 0)
        torch.testing.assert_close(again, value, rtol=1e-5, atol=1e-6)
