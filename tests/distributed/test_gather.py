from __future__ import annotations

import torch
import torch.distributed as dist

from rankwise.distributed import gather_with_gradient
from rankwise.distributed.gather import Message, with_gradient


def test_without_other_processes_it_is_the_tensor_itself():
    tensor = torch.ones(3, requires_grad=True)
    assert gather_with_gradient(tensor) is tensor


def test_own_rows_get_their_gradient_times_the_number_of_processes(monkeypatch):
    monkeypatch.setattr(dist, "get_rank", lambda: 1)
    own = torch.tensor([3.0, 4.0], requires_grad=True)
    parts = [torch.tensor([1.0, 2.0]), own.detach(), torch.zeros(0)]
    joined = with_gradient(own, torch.cat(parts), parts)
    (joined * torch.tensor([1.0, 10.0, 100.0, 1000.0])).sum().backward()
    assert own.grad is not None
    assert own.grad.tolist() == [300, 3000]


KINDS = (torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool)


def test_parcels_come_out_as_they_went_in():
    columns = {str(kind): (torch.arange(6).reshape(3, 2) % 2).to(kind).T for kind in KINDS}
    columns["empty"], columns["one"] = torch.zeros(0, 5), torch.ones(3, dtype=torch.bool)
    columns |= {f"expanded {n}": torch.tensor(3).expand(n) for n in range(3)}
    messages = [
        Message({"words": "ℓ ≥ 0", "yes": True, "none": None}, columns),
        Message({}, {}),
        Message({"words": ""}, {"scores": torch.randn(7)}),
    ]
    received = list(
        Message.from_bytes(torch.cat([p.to_bytes(torch.device("cpu")) for p in messages]))
    )
    assert [p.facts for p in received] == [p.facts for p in messages]
    for got, sent in zip(received, messages, strict=True):
        assert list(got.columns) == list(sent.columns)
        for name, column in sent.columns.items():
            assert got.columns[name].dtype == column.dtype
            assert torch.equal(got.columns[name], column)
