from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from rankwise.tasks.retrieval.optimisers import MomentumSGD, make_optimiser, rate_at
from rankwise.tasks.retrieval.settings import Optimiser, UsageError


def run(optimiser: torch.optim.Optimizer, model: nn.Module, steps: int = 6) -> torch.Tensor:
    x = torch.randn(10, 3, generator=torch.manual_seed(1)).double()
    for _ in range(steps):
        optimiser.zero_grad()
        (model(x) - 1).square().mean().backward()
        optimiser.step()
    return model.weight.detach().clone()


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Linear(3, 2).double()


@pytest.mark.parametrize(("s", "nesterov"), [(0.0, False), (1.0, True)])
def test_the_two_ends_are_torchs(s, nesterov):
    first, second = model(), model()
    ours = MomentumSGD(first.parameters(), 0.05, momentum=0.8, s=s, weight_decay=0.01)
    theirs = torch.optim.SGD(
        second.parameters(), 0.05, momentum=0.8, nesterov=nesterov, weight_decay=0.01
    )
    torch.testing.assert_close(run(ours, first), run(theirs, second), rtol=1e-13, atol=0)


def test_between_them_it_is_as_written():
    layer = model()
    optimiser = MomentumSGD(layer.parameters(), 0.05, momentum=0.8, s=0.3)
    weight, buffer = layer.weight.detach().clone(), torch.zeros(2, 3).double()
    x = torch.randn(10, 3, generator=torch.manual_seed(1)).double()
    for _ in range(3):
        optimiser.zero_grad()
        (layer(x) - 1).square().mean().backward()
        g = layer.weight.grad
        buffer = 0.8 * buffer + g
        weight = weight - 0.05 * (0.7 * buffer + 0.3 * (g + 0.8 * buffer))
        optimiser.step()
        torch.testing.assert_close(layer.weight.detach(), weight, rtol=1e-13, atol=0)


def test_it_goes_on_from_its_state():
    layer = model()
    optimiser = MomentumSGD(layer.parameters(), 0.05)
    run(optimiser, layer, 3)
    again = copy.deepcopy(layer)
    other = MomentumSGD(again.parameters(), 0.05)
    other.load_state_dict(copy.deepcopy(optimiser.state_dict()))
    assert torch.equal(run(optimiser, layer, 3), run(other, again, 3))


def test_optimisers_by_name_and_only_what_learns():
    layer = model()
    layer.bias.requires_grad_(False)
    kinds = {"sgd": MomentumSGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
    for name, kind in kinds.items():
        made = make_optimiser(layer.parameters(), Optimiser(name=name, weight_decay=0.1))
        assert type(made) is kind
        assert len(made.param_groups[0]["params"]) == 1
        assert made.param_groups[0]["weight_decay"] == 0.1


def test_the_rate_falls_after_milestones():
    chosen = Optimiser(learning_rate=0.01, milestones=(15, 30), factor=0.1)
    rates = [rate_at(chosen, step) for step in (0, 14, 15, 29, 30, 49)]
    assert rates == pytest.approx([0.01, 0.01, 0.001, 0.001, 0.0001, 0.0001])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "lbfgs"}, "optimiser.name must be one of sgd, adam, adamw, got 'lbfgs'"),
        ({"s": 1.5}, r"optimiser.s must be in \[0, 1\], got 1.5"),
        ({"momentum": 1.0}, r"optimiser.momentum must be in \[0, 1\), got 1.0"),
        ({"milestones": (30, 15)}, "optimiser.milestones must go up, got 30, 15"),
        ({"learning_rate": 0.0}, "optimiser.learning_rate must be a finite number > 0, got 0.0"),
    ],
)
def test_settings_that_cannot_be(options, message):
    with pytest.raises(UsageError, match=message):
        Optimiser(**options)
