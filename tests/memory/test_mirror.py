from __future__ import annotations

import math

import pytest
import torch

from rankwise.memory import MirrorAverage

IDS = torch.tensor([0, 1])


def test_the_step_is_the_proximal_point_of_its_problem():
    """ν minimizes e^a (ĝ e^(−ν) + ν) + the Bregman divergence of e^(−ν) from the last ν."""
    memory = MirrorAverage(1, log_step=-0.7)
    last, estimate, ids = 0.4, math.log(3.0), torch.tensor([0])
    memory.update(ids, torch.tensor([[last]]))
    found = memory.update(ids, torch.tensor([[estimate]])).item()
    grid = torch.linspace(-3, 3, 600_001, dtype=torch.float64)
    divergence = (-grid).exp() - math.exp(-last) + math.exp(-last) * (grid - last)
    problem = math.exp(-0.7) * (math.exp(estimate) * (-grid).exp() + grid) + divergence
    assert found == pytest.approx(grid[problem.argmin()].item(), abs=2e-5)


def test_it_is_a_moving_average_with_the_rate_of_its_value():
    memory, a = MirrorAverage(2, log_step=0.3), 0.3
    u = torch.tensor([[0.2], [5.0]])
    memory.update(IDS, u.log())
    for seed in range(4):
        g = torch.rand(2, 1, generator=torch.Generator().manual_seed(seed)) * 4
        rate = math.exp(a) * u / (1 + math.exp(a) * u)
        u = (1 - rate) * u + rate * g
        torch.testing.assert_close(memory.update(IDS, g.log()).exp(), u)


def test_the_gradient_is_that_of_fcco():
    memory = MirrorAverage(2, log_step=0.0)
    memory.update(IDS, torch.tensor([[0.5], [2.0]]).log())
    g = torch.tensor([[4.0], [0.1]], requires_grad=True)
    log_u, _ = memory.track(IDS, g.log())
    log_u.sum().backward()
    torch.testing.assert_close(g.grad, (-log_u).exp().detach())


def test_ids_in_rows_are_those_of_a_flat_call():
    memory = MirrorAverage(4, log_step=0.0)
    memory.update(torch.arange(3), torch.tensor([[0.5], [2.0], [3.0]]).log())
    ids, estimates = torch.tensor([[3, 1, 0], [2, 3, 1]]), torch.rand(2, 3, 1)
    flat = memory.preview(ids.flatten(), estimates.flatten(0, 1))
    assert torch.equal(memory.preview(ids, estimates), flat.reshape(2, 3, 1))


@pytest.mark.parametrize("size", [1e4, -1e4])
def test_nothing_overflows(size):
    memory = MirrorAverage(2, log_step=10.0)
    for estimate in (size, -size, size):
        g = torch.full((2, 1), estimate, requires_grad=True)
        log_u, update = memory.track(IDS, g)
        log_u.sum().backward()
        assert log_u.isfinite().all()
        assert g.grad.isfinite().all()
        memory.update(update.ids, update.estimates)


def test_options():
    with pytest.raises(ValueError, match="log_step must be a finite number, got nan"):
        MirrorAverage(2, log_step=math.nan)
    assert "log_step=1.5" in repr(MirrorAverage(2, log_step=1.5))
