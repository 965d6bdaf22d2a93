"""One learned temperature: its slope, its bound, and where it comes to rest."""

from __future__ import annotations

import copy
import math

import pytest
import torch

from rankwise.objectives import GlobalContrastive, LearnedTemperature

TARGET = torch.tensor([[1, 0, 0, 0], [0, 1, 0, 0]])
IDS = torch.tensor([3, 1])


def batch(seed: int) -> torch.Tensor:
    rng = torch.Generator().manual_seed(seed)
    return (torch.rand(2, 4, dtype=torch.float64, generator=rng) * 2 - 1).requires_grad_()


def made(**options) -> LearnedTemperature:
    return LearnedTemperature(5, 0.3, **{"rho": 0.4, **options}).double()


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_the_slope_of_tau_is_that_of_finite_differences(epsilon):
    scores = batch(0)

    def value(tau: float) -> float:
        loss = made(epsilon=epsilon)
        with torch.no_grad():
            loss.tau.fill_(tau)
        return loss(scores, TARGET, list_ids=IDS).item()

    loss = made(epsilon=epsilon)
    loss(scores, TARGET, list_ids=IDS).backward()
    assert loss.tau.grad.item() == pytest.approx(
        (value(0.3 + 1e-5) - value(0.3 - 1e-5)) / 2e-5, rel=1e-6
    )


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_the_slope_at_a_later_visit_is_the_published_formula(epsilon):
    loss, first, scores, rho, rate = (
        made(epsilon=epsilon, ema_rate=0.6),
        batch(1),
        batch(2),
        0.4,
        0.6,
    )
    loss(first, TARGET, list_ids=IDS)
    value = loss(scores, TARGET, list_ids=IDS)
    value.backward()
    tau, own = 0.3, TARGET.bool()

    def above(s):
        return (s.detach()[~own].reshape(2, 3) - s.detach()[own].reshape(2, 1)) / tau

    g, h = above(scores).exp().mean(1), above(scores)
    u = (1 - rate) * above(first).exp().mean(1) + rate * g
    slope = (epsilon + u).log() + rho - (h.exp() * h).mean(1) / (epsilon + u)
    assert loss.tau.grad.item() == pytest.approx(slope.mean().item(), rel=1e-6)
    assert value.item() == pytest.approx((tau * ((epsilon + u).log() + rho)).mean().item())


def test_the_gradient_in_the_scores_is_that_of_the_constant_temperature():
    learned, constant, scores = made(), GlobalContrastive(5, 0.3), batch(3)
    slopes = [
        torch.autograd.grad(loss(scores, TARGET, list_ids=IDS), scores)[0]
        for loss in (learned, constant)
    ]
    torch.testing.assert_close(*slopes)


def test_tau_comes_to_the_minimum_of_the_loss():
    scores, loss = batch(4).detach(), made(rho=0.2)
    optimizer = torch.optim.Adam(loss.parameters(), lr=0.02)
    for _ in range(300):
        optimizer.zero_grad()
        loss(scores, TARGET, list_ids=IDS).backward()
        optimizer.step()
    grid = torch.linspace(0.05, 5, 20_000, dtype=torch.float64)
    own = TARGET.bool()
    h = scores[~own].reshape(2, 3) - scores[own].reshape(2, 1)
    risks = (grid * ((h[..., None] / grid).exp().mean(1).log() + 0.2)).mean(0)
    assert loss.tau.item() == pytest.approx(grid[risks.argmin()].item(), rel=0.03)


def test_the_bound_is_restored_and_left_again():
    loss, scores = made(lowest=0.1), batch(5)
    with torch.no_grad():
        loss.tau.fill_(-2.0)
    loss(scores, TARGET, list_ids=IDS).backward()
    assert loss.tau.item() == pytest.approx(0.1)
    assert loss.tau.grad.item() != 0
    state = copy.deepcopy(loss.state_dict())
    with torch.no_grad():
        loss.eval()(scores, TARGET, list_ids=IDS)
    assert all(torch.equal(state[k], v) for k, v in loss.state_dict().items())


def test_it_goes_on_bit_for_bit():
    first, second = made(), made()
    loss = first(batch(6), TARGET, list_ids=IDS)
    loss.backward()
    second.load_state_dict(first.state_dict())
    assert torch.equal(*(each(batch(7), TARGET, list_ids=IDS) for each in (first, second)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rho": -1.0}, "rho must be a finite number"),
        ({"lowest": 0.0}, "lowest must be a finite number > 0"),
        ({"lowest": 0.5}, "lowest and temperature must satisfy"),
        ({"temperature": math.nan}, "temperature"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        LearnedTemperature(5, **{"temperature": 0.3, **options})
