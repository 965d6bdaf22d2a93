from __future__ import annotations

import pytest
import torch

from rankwise.pairs import OneSidedHuber, ZeroOne
from rankwise.pairs._engine.knots import Knots


@pytest.mark.parametrize("sizes", [(3, 8), (8, 3)])
def test_the_smaller_side_becomes_the_knots(sizes):
    upper, lower = (torch.randn(2, n, dtype=torch.float64) for n in sizes)
    knots = Knots(OneSidedHuber(0.5).form(), upper, lower)
    assert knots.knots_are_upper == (sizes[0] < sizes[1])
    assert knots.line.shape == (2, 2 * 3)
    assert (knots.line.diff(dim=-1) >= 0).all()
    below = (knots.line.unsqueeze(-2) < knots.points.unsqueeze(-1)).sum(-1)
    assert torch.equal(knots.slot, below)


def test_ties_count_as_the_surrogate_says():
    tied = torch.zeros(1, 1, dtype=torch.float64)
    assert Knots(ZeroOne().form(), tied, tied).slot.item() == 1
    assert Knots(OneSidedHuber(1.0).form(), tied - 1, tied - 1).slot.item() == 1  # 0 < τ only


def test_round_trips():
    torch.manual_seed(0)
    upper, lower = torch.randn(2, 4), torch.randn(2, 9)
    knots = Knots(OneSidedHuber(0.5).form(), upper, lower)
    values = torch.randn(2, 4)
    back = knots.from_knots(knots.to_knots(values, [1.0, 2.0]))
    assert torch.equal(back, torch.stack([values, 2 * values], dim=1))


def test_rough_order_is_an_order_of_the_same_points(monkeypatch):
    monkeypatch.setattr("rankwise.pairs._engine.knots._MANY_KNOTS", 10)
    torch.manual_seed(1)
    upper, lower = torch.randn(2, 50), torch.randn(2, 900)
    knots = Knots(OneSidedHuber(0.5).form(), upper, lower)
    assert knots.arrangement is not None
    assert torch.equal(knots.points, knots.to_points(lower))
    assert torch.equal(knots.from_points(knots.to_points(lower)), lower)
    assert knots.slot.diff().abs().float().mean() < 2  # neighbors fall near the same knots
