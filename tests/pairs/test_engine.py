"""How much the engine holds on to: the bounds that ``benchmarks/`` measures at full size."""

from __future__ import annotations

import torch

from rankwise.pairs import OneSidedHuber, pair_sum
from rankwise.pairs.engine import _BLOCK_BYTES, _bytes_of, _row_blocks


def test_blocks_cover_every_row_once():
    upper, lower = torch.zeros(1000, 50), torch.zeros(1000, 2000)
    form = OneSidedHuber(1.0).form()
    rows = [row for block in _row_blocks(form, upper, lower) for row in range(1000)[block]]
    assert rows == list(range(1000))
    assert len(list(_row_blocks(form, upper, lower))) > 1
    assert _bytes_of(form, upper, lower) <= _BLOCK_BYTES


def test_many_lists_are_sorted_again_instead_of_kept(monkeypatch):
    upper, lower = torch.randn(64, 32, requires_grad=True), torch.randn(64, 64, requires_grad=True)

    def kept() -> int:
        total = pair_sum(OneSidedHuber(1.0), upper, lower, method="sorted")
        return len(total.grad_fn.next_functions[0][0].kept)

    assert kept() == 1
    monkeypatch.setattr("rankwise.pairs.engine._KEPT_BYTES", 0)
    assert kept() == 0
