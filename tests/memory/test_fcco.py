from __future__ import annotations

import math

import pytest
import torch

from rankwise.memory import FCCOAverage, MemoryUpdate
from rankwise.memory.fcco import tracked


def apply(update: MemoryUpdate) -> None:
    update.memory.update(update.ids, update.estimates)


def seen_once(rate: float, value: float, log: bool = False) -> FCCOAverage:
    average = FCCOAverage(3, ema_rate=rate, log=log)
    average.update(torch.tensor([1]), torch.tensor([[value]]))
    return average


def test_the_value_is_that_of_the_average_and_the_gradient_that_of_the_estimate():
    average = seen_once(0.25, 8.0)
    x = torch.tensor([[2.0]], requires_grad=True)
    u, update = average.track(torch.tensor([1]), x**2, torch.tensor([True]))
    assert u.item() == 0.75 * 8 + 0.25 * 4
    (gradient,) = torch.autograd.grad(u.log().sum(), x)
    assert gradient.item() == pytest.approx(1 / 7 * 2 * 2)  # f′(u)·dĝ/dx
    assert average.value[1].item() == 8  # nothing is updated before the end of a call
    apply(update)
    assert average.value[1].item() == 7


def test_logarithms_give_the_gradient_of_what_they_are_of():
    average = seen_once(0.25, math.log(8.0), log=True)
    x = torch.tensor([[2.0]], requires_grad=True)
    log_u, update = average.track(torch.tensor([1]), (x**2).log(), torch.tensor([True]))
    assert log_u.item() == pytest.approx(math.log(7))
    (gradient,) = torch.autograd.grad(log_u.sum(), x)
    assert gradient.item() == pytest.approx(1 / 7 * 2 * 2)
    apply(update)
    assert average.value[1].item() == pytest.approx(math.log(7))


def test_logarithms_far_outside_the_floats_stay_finite():
    average = seen_once(0.5, 1e6, log=True)
    x = torch.tensor([[-1e6], [2e6]], requires_grad=True)
    log_u, _ = average.track(torch.tensor([1, 1]), x, torch.tensor([True, True]))
    assert log_u.squeeze(1).tolist() == pytest.approx([1e6 - math.log(2), 2e6 - math.log(2)])
    (gradient,) = torch.autograd.grad(log_u.sum(), x)
    assert gradient.squeeze(1).tolist() == pytest.approx([0, 2])  # ĝ/u
    average.eval()
    (gradient,) = torch.autograd.grad(
        average.track(torch.tensor([1]), x[1:], torch.tensor([True]))[0].sum(), x
    )
    assert torch.isfinite(gradient).all()


def test_absent_estimates_teach_nothing():
    average = seen_once(0.5, 8.0)
    estimate = torch.tensor([[4.0], [100.0]])
    _, update = average.track(torch.tensor([1, 1]), estimate, torch.tensor([True, False]))
    apply(update)
    assert average.value[1].item() == 6


def test_the_models_own_change_is_added():
    ids, here = torch.tensor([1]), torch.tensor([True])
    for correction, expected in ((None, 0.5), (2.0, 2.0)):
        average = FCCOAverage(3, ema_rate=0.5, correction=correction)
        average.update(ids, torch.tensor([[8.0]]))
        u, update = average.track(ids, torch.tensor([[6.0]]), here, previous=torch.tensor([[5.0]]))
        assert u.item() == 0.5 * 8 + 0.5 * 6 + expected * (6 - 5)
        apply(update)
        assert average.value[1].item() == u.item()


def test_without_a_memory_the_estimates_are_returned():
    estimate = torch.tensor([1.0, 2.0], requires_grad=True)
    assert tracked(None, None, estimate) == (estimate, [])


def test_one_number_for_each_row_needs_no_width():
    average, ids = FCCOAverage(4, ema_rate=0.5), torch.tensor([1, 3])
    flat, (update,) = tracked(average, ids, torch.tensor([2.0, 4.0]))
    wide, (other,) = tracked(average, ids, torch.tensor([[2.0], [4.0]]))
    assert flat.tolist() == wide.squeeze(-1).tolist() == [2, 4]
    assert update.ids.tolist() == other.ids.tolist() == [1, 3]
    _, (some,) = tracked(average, ids, torch.tensor([2.0, 4.0]), torch.tensor([False, True]))
    assert some.ids.tolist() == [3]


@pytest.mark.parametrize("shape", [(2,), (2, 1)], ids=str)
def test_estimates_under_the_previous_model_reach_the_average_in_both_shapes(shape):
    average, ids = FCCOAverage(3, ema_rate=0.5, correction=2.0), torch.tensor([1, 2])
    average.update(ids, torch.tensor([[8.0], [4.0]]))
    now, before = torch.full(shape, 6.0), torch.full(shape, 5.0)
    u, _ = tracked(average, ids, now, previous=before)
    moved = 0.5 * 6 + 2 * (6 - 5)
    assert u.flatten().tolist() == [0.5 * 8 + moved, 0.5 * 4 + moved]


@pytest.mark.parametrize(("log", "numbers"), [(False, 2 * 3), (True, 3)])
def test_an_update_has_all_numbers_of_its_width(log, numbers):
    average = FCCOAverage(4, 3, ema_rate=0.5, log=log)
    _, update = average.track(torch.tensor([1]), torch.ones(1, 3), torch.tensor([True]))
    assert average.update_width == update.estimates.shape[1] == numbers
