from __future__ import annotations

import re
import sys

import pytest
import torch
from tests.training.processes import run_two
from torch import nn

from rankwise.errors import UsageError
from rankwise.training import Devices, Place, require_one_process, world_size


def test_one_process_on_the_processor():
    devices = Devices()
    assert devices.place == Place(torch.device("cpu"), 0, 1)
    assert devices.place.is_first
    assert not Place(rank=1, world_size=2).is_first
    assert devices.broadcast([1]) == [1]


def test_what_trains_in_one_process_says_so(monkeypatch):
    require_one_process("rankwise rank")
    monkeypatch.setenv("WORLD_SIZE", "3")
    assert world_size() == 1  # a variable of something else
    monkeypatch.setenv("RANK", "1")
    assert world_size() == 3
    line = "rankwise rank trains in one process, got 3; start it without torchrun and Ray"
    with pytest.raises(UsageError, match=f"^{line}$"):
        require_one_process("rankwise rank")


def test_precisions_have_their_short_and_their_long_names():
    for name, dtype in (("bf16", torch.bfloat16), ("bfloat16", torch.bfloat16)):
        with Devices(name).autocast():
            assert torch.mm(torch.ones(2, 2), torch.ones(2, 2)).dtype == dtype
    for name in ("32", "float32"):
        with Devices(name).autocast():
            assert torch.mm(torch.ones(2, 2), torch.ones(2, 2)).dtype == torch.float32
    with pytest.raises(UsageError, match=r"must be one of float32, .* 16, got 'fp8'"):
        Devices("fp8")


def test_without_fabric_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightning_fabric", None)
    line = 'rankwise.training needs lightning-fabric: pip install "rankwise[train]"'
    with pytest.raises(ImportError, match=re.escape(line)):
        Devices()


def agree(rank: int) -> None:
    """Called in two processes."""
    devices = Devices()
    assert devices.place == Place(torch.device("cpu"), rank, 2)
    assert devices.broadcast(["a", "b"][rank]) == "a"
    used, here, nowhere = (nn.Parameter(torch.zeros(2)) for _ in range(3))
    used.grad = torch.full((2,), 1.0 + rank)
    if rank == 1:
        here.grad = torch.full((2,), 4.0)  # the other process did not use it
    optimizer = torch.optim.SGD([used, here, nowhere], 1.0)
    devices.step(optimizer)
    assert used.tolist() == [-1.5, -1.5]
    assert here.tolist() == [-2.0, -2.0]
    assert nowhere.grad is None
    used.grad, here.grad = torch.tensor([3.0, 4.0]), None
    before = used.detach().clone()
    devices.step(optimizer, clip=1.0)
    torch.testing.assert_close(before - used.detach(), torch.tensor([0.6, 0.8]))
    norm = nn.BatchNorm1d(2)
    with torch.no_grad():
        norm.running_mean.fill_(rank)
        norm.weight.fill_(rank)
    devices.share_state(norm, buffers_only=True)
    assert (norm.running_mean.tolist(), norm.weight.tolist()) == ([0, 0], [rank, rank])
    devices.share_state(norm)
    assert norm.weight.tolist() == [0, 0]


def test_two_processes_average_gradients_and_share_states():
    run_two("tests.training.test_devices", "agree")
