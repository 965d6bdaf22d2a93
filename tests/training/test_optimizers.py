from __future__ import annotations

import copy
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from rankwise.baselines import ProxyAnchor
from rankwise.training import MomentumSGD, make_optimizer, parameter_groups, set_rate


def run(optimizer: torch.optim.Optimizer, model: nn.Module, steps: int = 6) -> torch.Tensor:
    x = torch.randn(10, 3, generator=torch.manual_seed(1)).double()
    for _ in range(steps):
        optimizer.zero_grad()
        (model(x) - 1).square().mean().backward()
        optimizer.step()
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
    optimizer = MomentumSGD(layer.parameters(), 0.05, momentum=0.8, s=0.3)
    weight, buffer = layer.weight.detach().clone(), torch.zeros(2, 3).double()
    x = torch.randn(10, 3, generator=torch.manual_seed(1)).double()
    for _ in range(3):
        optimizer.zero_grad()
        (layer(x) - 1).square().mean().backward()
        g = layer.weight.grad
        buffer = 0.8 * buffer + g
        weight = weight - 0.05 * (0.7 * buffer + 0.3 * (g + 0.8 * buffer))
        optimizer.step()
        torch.testing.assert_close(layer.weight.detach(), weight, rtol=1e-13, atol=0)


def test_it_goes_on_from_its_state():
    layer = model()
    optimizer = MomentumSGD(layer.parameters(), 0.05)
    run(optimizer, layer, 3)
    again = copy.deepcopy(layer)
    other = MomentumSGD(again.parameters(), 0.05)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    assert torch.equal(run(optimizer, layer, 3), run(other, again, 3))


def test_optimizers_by_name_and_only_what_learns():
    layer = model()
    layer.bias.requires_grad_(False)
    kinds = {"sgd": MomentumSGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
    for name, kind in kinds.items():
        asked = SimpleNamespace(name=name, learning_rate=0.1, weight_decay=0.1, momentum=0.9, s=1.0)
        made = make_optimizer(layer.parameters(), asked)
        assert type(made) is kind
        assert len(made.param_groups[0]["params"]) == 1
        assert made.param_groups[0]["weight_decay"] == 0.1


def test_a_part_of_the_loss_with_a_factor_has_a_rate_of_its_own():
    loss = nn.ModuleList([nn.Linear(2, 2), ProxyAnchor(3, 2, rate_factor=10.0)])
    groups = parameter_groups(model(), loss)
    asked = SimpleNamespace(name="sgd", learning_rate=0.1, weight_decay=0.1, momentum=0.9, s=1.0)
    assert [len(group["params"]) for group in groups] == [4, 1]
    optimizer = make_optimizer(groups, asked)
    set_rate(optimizer, 0.5)
    assert [group["lr"] for group in optimizer.param_groups] == [0.5, 5.0]
    fresh = make_optimizer(groups, asked)
    fresh.load_state_dict(optimizer.state_dict())  # the factor is in a checkpoint
    assert [group["rate_factor"] for group in fresh.param_groups] == [1.0, 10.0]


def test_a_loss_without_a_factor_shares_the_group_of_the_network():
    layer = model()
    layer.bias.requires_grad_(False)
    (group,) = parameter_groups(layer, nn.Linear(1, 1))
    assert [tuple(p.shape) for p in group["params"]] == [(2, 3), (1, 1), (1,)]
