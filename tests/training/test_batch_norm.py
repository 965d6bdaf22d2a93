from __future__ import annotations

import copy

import pytest
import torch
import torch.distributed as dist
from tests.training.processes import run_processes
from torch import nn

from rankwise.training import Devices
from rankwise.training.batch_norm import join_batch_norms

CASES = {
    "1d": (lambda: nn.BatchNorm1d(3), (12, 3)),
    "2d": (lambda: nn.BatchNorm2d(3, momentum=None), (12, 3, 2, 5)),
    "plain": (lambda: nn.BatchNorm1d(3, affine=False, track_running_stats=False), (12, 3, 4)),
}


def work(rank: int) -> None:
    """Called in several processes; what is asserted here fails the launch."""
    Devices()
    world = dist.get_world_size()
    torch.manual_seed(0)
    for make, shape in CASES.values():
        alone = make().double()
        for parameter in alone.parameters():
            nn.init.normal_(parameter)
        joined = copy.deepcopy(alone)
        join_batch_norms(joined)
        joined = copy.deepcopy(joined)  # a copy normalizes by itself
        for _ in range(2):
            x, upper = (torch.randn(shape, dtype=torch.float64) * 3 + 100 for _ in range(2))
            whole, own = x.requires_grad_(), x.detach().chunk(world)[rank].requires_grad_()
            expected = alone(whole)
            found = joined(own)
            part = expected.chunk(world)[rank]
            torch.testing.assert_close(found, part.detach(), rtol=1e-9, atol=1e-9)
            (expected * upper).sum().backward()
            (found * upper.chunk(world)[rank]).sum().backward()
            torch.testing.assert_close(
                own.grad, whole.grad.chunk(world)[rank], rtol=1e-7, atol=1e-9
            )
            for name, value in alone.state_dict().items():
                torch.testing.assert_close(joined.state_dict()[name], value)
            if alone.running_mean is not None:
                both = alone.eval()(x), joined.eval()(x)
                torch.testing.assert_close(*both)
                alone.train(), joined.train()


@pytest.mark.parametrize("processes", [2, 3])
def test_statistics_and_gradients_are_those_of_the_joined_batch(processes):
    run_processes(processes, "tests.training.test_batch_norm", "work")


def test_in_one_process_nothing_changes():
    norm, x = nn.BatchNorm1d(3), torch.randn(5, 3)
    twin = copy.deepcopy(norm)
    join_batch_norms(twin)
    assert torch.equal(norm(x), twin(x))
    assert norm.state_dict().keys() == twin.state_dict().keys()
