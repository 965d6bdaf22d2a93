"""AdamW by rows against torch's AdamW of every row on the steps that touch it."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from rankwise.training import RowAdamW


def batches(steps=12, rows=7, seed=0):
    """Rows that each step touches; some come twice, row 6 never."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randint(0, rows - 1, (4,), generator=generator) for _ in range(steps)]


def table(seed=0, **options):
    torch.manual_seed(seed)
    return nn.Embedding(7, 3, dtype=torch.float64, **options)


def loss_of(vectors, step):
    return (vectors * torch.linspace(-1, 2, 3, dtype=vectors.dtype) + 0.1 * step).square().sum()


def run(optimizer, embedding, codes, first=0):
    for step, some in enumerate(codes, first):
        optimizer.param_groups[0]["lr"] = 0.1 / (1 + step)
        optimizer.zero_grad()
        loss_of(embedding(some), step).backward()
        optimizer.step()


@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_every_row_is_adamw_on_its_own_steps(decay):
    embedding, start = table(sparse=True), table().weight.detach().clone()
    run(RowAdamW(embedding.parameters(), 0.1, weight_decay=decay), embedding, batches())
    for row in range(7):
        alone = nn.Parameter(start[row].clone())
        optimizer = torch.optim.AdamW([alone], 0.1, weight_decay=decay)
        for step, some in enumerate(batches()):
            times = int((some == row).sum())
            if times:
                optimizer.param_groups[0]["lr"] = 0.1 / (1 + step)
                optimizer.zero_grad()
                (times * loss_of(alone, step)).backward()
                optimizer.step()
        torch.testing.assert_close(embedding.weight[row], alone, rtol=1e-12, atol=0)
    assert torch.equal(embedding.weight[6], start[6])  # nothing decays where no step has been


def test_where_all_rows_are_touched_it_is_adamw():
    sparse, dense = table(sparse=True), table()
    every = [torch.arange(7)] * 5
    run(RowAdamW(sparse.parameters(), 0.1, weight_decay=0.2), sparse, every)
    run(torch.optim.AdamW(dense.parameters(), 0.1, weight_decay=0.2), dense, every)
    torch.testing.assert_close(sparse.weight, dense.weight, rtol=1e-12, atol=0)


def test_dense_gradients_are_torchs():
    ours, theirs = table(), table()
    run(RowAdamW(ours.parameters(), 0.1, weight_decay=0.2), ours, batches())
    run(torch.optim.AdamW(theirs.parameters(), 0.1, weight_decay=0.2), theirs, batches())
    assert torch.equal(ours.weight, theirs.weight)


def test_it_resumes_with_the_same_bits():
    embedding = table(sparse=True).float()
    optimizer = RowAdamW(embedding.parameters(), 0.1)
    run(optimizer, embedding, batches()[:5])
    again = copy.deepcopy(embedding)
    other = RowAdamW(again.parameters(), 0.1)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    run(optimizer, embedding, batches()[5:], first=5)
    run(other, again, batches()[5:], first=5)
    assert torch.equal(embedding.weight, again.weight)
    for name, value in optimizer.state_dict()["state"][0].items():
        assert torch.equal(value, other.state_dict()["state"][0][name])


def test_the_gradient_stays():
    embedding = table(sparse=True)
    optimizer = RowAdamW(embedding.parameters())
    value = optimizer.step(lambda: loss_of(embedding(torch.tensor([1, 1])), 0).backward())
    assert value is None
    assert embedding.weight.grad.is_sparse
