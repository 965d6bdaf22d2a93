from __future__ import annotations

import torch
import torch.distributed as dist

from rankwise.distributed import gather_with_gradient
from rankwise.distributed.gradient import with_graph


def test_without_other_processes_it_is_the_tensor_itself():
    tensor = torch.ones(3, requires_grad=True)
    assert gather_with_gradient(tensor) is tensor


def test_own_rows_get_their_gradient_times_the_number_of_processes(monkeypatch):
    monkeypatch.setattr(dist, "get_rank", lambda: 1)
    own = torch.tensor([3.0, 4.0], requires_grad=True)
    parts = [torch.tensor([1.0, 2.0]), own.detach(), torch.zeros(0)]
    joined = with_graph(own, torch.cat(parts), parts)
    (joined * torch.tensor([1.0, 10.0, 100.0, 1000.0])).sum().backward()
    assert own.grad is not None
    assert own.grad.tolist() == [300, 3000]
