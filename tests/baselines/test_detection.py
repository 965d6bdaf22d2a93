from __future__ import annotations

import math

import pytest
import torch
from tests.objectives.contract import random_list
from tests.objectives.rows.detection import error_driven_loop

from rankwise import objective
from rankwise.baselines import DistributionalRanking, ErrorDrivenAP
from rankwise.baselines.detection import ErrorDrivenStep
from rankwise.metrics import average_precision
from rankwise.pairs import pair_sum


def test_by_hand():
    """One positive at 0, negatives at 3 (H = 1) and 0.5 (H = ¾): rank 1 + 1.75."""
    scores = torch.tensor([0.0, 3.0, 0.5, -2.0], dtype=torch.float64, requires_grad=True)
    value = ErrorDrivenAP()(scores, torch.tensor([1, 0, 0, 0]))
    assert value.item() == pytest.approx(1.75 / 2.75)
    (gradient,) = torch.autograd.grad(value, scores)
    expected = [-1.75 / 2.75, 1 / 2.75, 0.75 / 2.75, 0.0]
    torch.testing.assert_close(gradient, torch.tensor(expected, dtype=torch.float64))


def test_interpolation_by_hand():
    """Positives at rank 2 of 2 and 3 of 3: ½ is lifted to the ⅔ further down the list."""
    scores = torch.tensor([10.0, 20.0, 0.0], dtype=torch.float64, requires_grad=True)
    target = torch.tensor([1, 0, 1])
    value = ErrorDrivenAP()(scores, target)
    assert value.item() == pytest.approx(1 - 2 / 3)
    (gradient,) = torch.autograd.grad(value, scores)
    torch.testing.assert_close(gradient, torch.tensor([-1 / 6, 1 / 3, -1 / 6]).double())
    printed = ErrorDrivenAP(interpolated=False)(scores, target)
    assert printed.item() == pytest.approx(1 - (1 / 2 + 2 / 3) / 2)


@pytest.mark.parametrize("interpolated", [True, False])
@pytest.mark.parametrize(("n", "rate"), [(3000, 0.05), (3000, 0.6), (400, 0.005)])
def test_the_engine_equals_the_published_loop(n, rate, interpolated):
    scores, target = random_list(n, rate, seed=n)
    scores = (3 * scores).requires_grad_()
    value = ErrorDrivenAP(interpolated=interpolated)(scores, target)
    expected = error_driven_loop(interpolated)(scores, target)
    torch.testing.assert_close(value, expected, rtol=1e-12, atol=1e-14)
    (a,), (b,) = torch.autograd.grad(value, scores), torch.autograd.grad(expected, scores)
    torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-15)


def test_far_apart_it_is_one_minus_ap():
    generator = torch.Generator().manual_seed(0)
    scores = 10.0 * torch.randperm(50, generator=generator)
    target = torch.rand(50, generator=generator) < 0.3
    value = ErrorDrivenAP(interpolated=False)(scores, target)
    assert value.item() == pytest.approx(1 - average_precision(scores, target).item(), abs=1e-6)


def test_gradients_of_both_sides_cancel():
    scores, target = random_list(500, seed=3)
    (gradient,) = torch.autograd.grad(ErrorDrivenAP()(scores.requires_grad_(), target), scores)
    assert gradient.sum().abs() < 1e-14
    assert (gradient[target] <= 0).all()
    assert (gradient[~target] >= 0).all()


def test_an_absent_positive_lifts_no_precision():
    scores = torch.tensor([10.0, 20.0, 0.0])
    value = ErrorDrivenAP()(scores, torch.tensor([1, 0, 1]), weight=torch.tensor([1.0, 1.0, 0.0]))
    assert value.item() == pytest.approx(0.5)


@pytest.mark.parametrize("method", ["dense", "sorted"])
def test_the_step_has_its_own_value_as_its_slope(method):
    upper = torch.tensor([0.0, 0.4], dtype=torch.float64, requires_grad=True)
    lower = torch.tensor([0.2, 5.0], dtype=torch.float64, requires_grad=True)
    total = pair_sum(ErrorDrivenStep(1.0), upper, lower, method=method)
    torch.testing.assert_close(total, torch.tensor([1.6, 1.4]).double())
    to_upper, to_lower = torch.autograd.grad(total.sum(), (upper, lower))
    torch.testing.assert_close(to_upper, torch.tensor([-1.6, -1.4]).double())
    torch.testing.assert_close(to_lower, torch.tensor([0.6 + 0.4, 2.0]).double())


def test_names_and_bad_options():
    assert isinstance(objective("error_driven_ap(delta=.5)"), ErrorDrivenAP)
    with pytest.raises(ValueError, match="delta must be a finite number > 0, got 0"):
        ErrorDrivenAP(0)


def test_one_of_each_by_hand():
    """One item is all of its distribution: τ/L · log(1 + e^{L(p⁻ − p⁺ + γ)})."""
    scores = torch.tensor([0.0, math.log(3.0)])  # p = ½ and ¾
    value = DistributionalRanking()(scores, torch.tensor([1, 0]))
    assert value.item() == pytest.approx(4 / 6 * math.log(1 + math.exp(6 * (0.25 + 0.5))), rel=1e-6)


def test_the_hardest_negative_decides_when_lambda_is_small():
    scores = torch.tensor([0.0, -9.0, -9.0, 2.0])
    target = torch.tensor([1, 0, 0, 0])
    sharp = DistributionalRanking(negative_lambda=1e-3)(scores, target)
    alone = DistributionalRanking()(scores[[0, 3]], target[[0, 3]])
    torch.testing.assert_close(sharp, alone)


def test_no_negative_is_lost_in_a_crowd():
    """A mean over 10⁶ negatives does not see one of them; their worst distribution does."""
    scores = torch.full((100_001,), -8.0)
    scores[0] = 3.0
    target = torch.arange(100_001) == 0
    before = DistributionalRanking()(scores, target)
    scores[1:50] = 8.0
    assert DistributionalRanking()(scores, target) > before + 0.3


def test_name_and_bad_options_of_dr_loss():
    assert objective("dr(margin=0.2)").margin == 0.2
    with pytest.raises(ValueError, match="negative_lambda must be a finite number > 0"):
        DistributionalRanking(negative_lambda=0)
    with pytest.raises(ValueError, match="margin must be a finite number"):
        DistributionalRanking(margin=math.inf)
