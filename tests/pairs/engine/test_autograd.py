"""How much the engine holds on to: the bounds that ``benchmarks/`` measures at full size."""

from __future__ import annotations

import pytest
import torch

from rankwise.pairs import Exponential, OneSidedHuber, Sigmoid, Square, ZeroOne, pair_sum
from rankwise.pairs._engine.autograd import _plan


def test_blocks_cover_every_row_once():
    upper, lower = torch.zeros(1000, 50), torch.zeros(1000, 2000)
    row_blocks, _, _ = _plan(OneSidedHuber(1.0).form(), upper, lower)
    assert [row for block in row_blocks for row in range(1000)[block]] == list(range(1000))
    assert 1 < len(row_blocks) < 1000  # several rows fit into a block


def test_many_lists_are_sorted_again_instead_of_kept(monkeypatch):
    upper, lower = torch.randn(64, 32, requires_grad=True), torch.randn(64, 64, requires_grad=True)

    def kept() -> int:
        total = pair_sum(OneSidedHuber(1.0), upper, lower, method="sorted")
        return len(total.grad_fn.next_functions[0][0].kept[2])

    assert kept() == 1
    monkeypatch.setattr("rankwise.pairs._engine.autograd._KEPT_BYTES", 0)
    assert kept() == 0


@pytest.mark.parametrize(
    "surrogate",
    [OneSidedHuber(0.3), Sigmoid(5.0), Square(1.0), Exponential(1.0), ZeroOne()],
    ids=str,
)
@pytest.mark.parametrize("weighted", [True, False])
def test_a_long_list_in_pieces_is_the_whole(surrogate, weighted, monkeypatch):
    generator = torch.Generator().manual_seed(0)
    upper = torch.randn(20, dtype=torch.float64, generator=generator).requires_grad_()
    lower = torch.randn(1000, dtype=torch.float64, generator=generator).requires_grad_()
    weight = torch.rand(1000, dtype=torch.float64, generator=generator).requires_grad_()
    wanted = (upper, lower, weight) if weighted else (upper, lower)
    results = []
    for piece in (1 << 19, 300):
        monkeypatch.setattr("rankwise.pairs._engine.autograd._PIECE", piece)
        monkeypatch.setattr("rankwise.pairs._engine.autograd._FEW", 0)
        total = pair_sum(
            surrogate, upper, lower, weight=weight if weighted else None, method="exponential"
        )
        node = total.grad_fn.next_functions[0][0]
        assert len(node.kept[3]) == (1 if piece > 1000 else 4)
        results.append((total, *torch.autograd.grad(total.square().sum(), wanted)))
    for whole, pieces in zip(*results, strict=True):
        torch.testing.assert_close(pieces, whole, rtol=1e-12, atol=1e-12)


def test_pieces_are_for_one_list_with_few_uppers():
    form, lower = OneSidedHuber(1.0).form(), torch.zeros(1, 1 << 20)

    def pieces(*shape: int) -> int:
        return len(_plan(form, torch.zeros(shape), lower.expand(shape[0], -1))[1])

    assert pieces(1, 100) == 2
    assert pieces(1, 1 << 19) == 1
    assert pieces(2, 100) == 1
