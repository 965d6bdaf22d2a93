from __future__ import annotations

import pytest
import torch
from tests.objectives.contract import random_list
from tests.objectives.rows.detection import error_driven_loop

from rankwise import objective
from rankwise.baselines import ErrorDrivenAP
from rankwise.baselines.error_driven_ap import ErrorDrivenStep
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
