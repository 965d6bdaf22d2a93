from __future__ import annotations

import copy
import math

import pytest
import torch
from torch.nn.functional import normalize

from rankwise.objectives.contrastive import GlobalContrastive, IndividualTemperatures, two_views
from rankwise.objectives.contrastive.individual import Temperatures

TARGET = torch.tensor([[1, 0, 0], [1, 0, 0]])


def batch(seed: int) -> torch.Tensor:
    rng = torch.Generator().manual_seed(seed)
    return (torch.rand(2, 3, dtype=torch.float64, generator=rng) * 2 - 1).requires_grad_()


def tau(loss: IndividualTemperatures) -> torch.Tensor:
    return loss.temperatures.temperature


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_the_first_step_is_a_gradient_step_of_the_loss_itself(epsilon):
    scores, rho, step = batch(0), 0.4, 0.01
    t = torch.full((2,), 0.3, dtype=torch.float64, requires_grad=True)
    inner = ((scores[:, 1:] - scores[:, :1]) / t[:, None]).exp().mean(1)
    risks = t * ((epsilon + inner).log() + rho)
    (slope,) = torch.autograd.grad(risks.sum(), t)
    loss = IndividualTemperatures(5, 0.3, epsilon, rho=rho, step=step)
    value = loss(scores, TARGET, list_ids=torch.tensor([3, 1]))
    torch.testing.assert_close(value, risks.mean().detach(), rtol=1e-6, atol=0)
    expected = torch.full((5,), 0.3)
    expected[[3, 1]] -= step * slope.float()
    torch.testing.assert_close(tau(loss), expected)


def test_two_steps_by_hand():
    loss = IndividualTemperatures(
        1, 0.5, ema_rate=0.75, rho=0.2, step=0.1, temperature_ema_rate=0.5
    )
    target = torch.tensor([1, 0])
    loss(torch.tensor([0.1, 0.5], requires_grad=True), target)
    # One negative: log u = h/τ and the weighted mean of h/τ is the same, so the slope is ρ.
    t = 0.5 - 0.1 * 0.2
    assert tau(loss).item() == pytest.approx(t)
    value = loss(torch.tensor([0.3, 0.4], requires_grad=True), target)
    g = math.exp(0.1 / t)
    u = 0.25 * math.exp(0.4 / 0.5) + 0.75 * g
    assert value.item() == pytest.approx(t * (math.log(u) + 0.2))
    slope = math.log(u) + 0.2 - g / u * 0.1 / t
    assert tau(loss).item() == pytest.approx(t - 0.1 * (0.5 * 0.2 + 0.5 * slope))


def test_temperatures_come_to_the_minimum_of_the_loss():
    scores = batch(3)
    loss = IndividualTemperatures(2, 0.3, rho=0.2, highest=5.0, step=0.02)
    for _ in range(400):
        loss(scores, TARGET, list_ids=torch.tensor([0, 1]))
    grid = torch.linspace(0.05, 5, 50_000, dtype=torch.float64)
    for i in range(2):
        h = (scores[i, 1:] - scores[i, 0]).detach()
        risks = grid * ((h[:, None] / grid).exp().mean(0).log() + 0.2)
        assert tau(loss)[i].item() == pytest.approx(grid[risks.argmin()].item(), rel=0.02)


@pytest.mark.parametrize(("rho", "bound"), [(3.0, 0.2), (0.0, 0.4)])
def test_bounds_hold(rho, bound):
    loss = IndividualTemperatures(2, 0.3, rho=rho, lowest=0.2, highest=0.4, step=0.1)
    scores = torch.tensor([[0.0, 0.9, -0.9], [0.1, -0.5, 0.8]], requires_grad=True)
    for _ in range(30):
        loss(scores, TARGET, list_ids=torch.tensor([0, 1]))
    torch.testing.assert_close(tau(loss), torch.full((2,), bound))


def test_common_items_end_warmer_than_rare_ones():
    """What the paper finds: negatives of the anchor's own kind raise its temperature."""
    torch.manual_seed(0)
    centers = normalize(torch.randn(36, 16), dim=1)
    kind = torch.tensor([0] * 15 + list(range(1, 36)))  # fifteen of one kind, the rest alone
    first = centers[kind] + 0.1 * torch.randn(50, 16)
    second = centers[kind] + 0.1 * torch.randn(50, 16)
    loss = IndividualTemperatures(50, 0.2, rho=0.3, step=0.05, lowest=0.01)
    for _ in range(60):
        rows = torch.randperm(50)[:25]
        lists = two_views(first[rows], second[rows], rows)
        lists.scores.requires_grad_()
        loss(**lists._asdict())
    assert tau(loss)[:15].mean() > 1.2 * tau(loss)[15:].mean()


@pytest.mark.parametrize("how", ["eval", "no_grad"])
def test_only_training_moves_them(how):
    loss = IndividualTemperatures(2, 0.3)
    loss(batch(0), TARGET, list_ids=torch.tensor([0, 1]))
    before = copy.deepcopy(loss.state_dict())
    if how == "eval":
        loss.eval()
        loss(batch(1), TARGET, list_ids=torch.tensor([0, 1]))
    else:
        with torch.no_grad():
            loss(batch(1), TARGET, list_ids=torch.tensor([0, 1]))
    for name, value in loss.state_dict().items():
        assert torch.equal(value, before[name])


def test_an_anchor_that_comes_twice_takes_one_step_by_its_mean_slope():
    scores = batch(2)
    apart = [IndividualTemperatures(1, 0.3), IndividualTemperatures(1, 0.3)]
    for i, loss in enumerate(apart):
        loss(scores[i], TARGET[i])
    both = IndividualTemperatures(1, 0.3)
    both(scores, TARGET, list_ids=torch.tensor([0, 0]))
    expected = torch.stack([tau(loss) for loss in apart]).mean(0)
    torch.testing.assert_close(tau(both), expected)


def test_without_room_to_move_it_is_the_loss_of_one_temperature():
    scores = batch(4)
    fixed = IndividualTemperatures(2, 0.3, rho=0.0, lowest=0.3, highest=0.3)
    plain = GlobalContrastive(2, 0.3)
    for _ in range(3):
        a, b = (loss(scores, TARGET, list_ids=torch.tensor([0, 1])) for loss in (fixed, plain))
        torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-7)


def test_temperatures_take_in_slopes_of_no_key_at_all():
    memory = Temperatures(2, 0.3, (0.1, 0.5), step=0.1, ema_rate=1.0)
    memory.update(torch.zeros(0, dtype=torch.long), torch.zeros(0, 1))
    assert memory.temperature.tolist() == pytest.approx([0.3, 0.3])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": 0.9}, "lowest, temperature and highest must satisfy"),
        ({"lowest": 0.0}, "lowest must be a finite number > 0"),
        ({"rho": -0.1}, "rho must be a finite number >= 0, got -0.1"),
        ({"step": 0.0}, "step must be a finite number > 0, got 0.0"),
        ({"temperature_ema_rate": 1.5}, r"temperature_ema_rate must be in \(0, 1\], got 1.5"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        IndividualTemperatures(5, **options)
