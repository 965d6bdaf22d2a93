from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.pairs import OneSidedHuber, pair_sum
from rankwise.pairs._engine import knots as slots
from rankwise.pairs._engine.knots import slots as slots_of


@pytest.fixture
def always_by_table(monkeypatch):
    monkeypatch.setattr(slots, "_MANY_POINTS", 1)


@given(
    seed=st.integers(0, 10_000),
    spread=st.sampled_from([1e-300, 1e-12, 1.0, 1e6, 1e300]),
    grid=st.booleans(),
    n_knots=st.integers(1, 60),
)
@settings(max_examples=60)
def test_the_table_equals_the_search(seed, spread, grid, n_knots):
    generator = torch.Generator().manual_seed(seed)
    knots = torch.randn(1, n_knots, dtype=torch.float64, generator=generator)
    points = torch.randn(1, 300, dtype=torch.float64, generator=generator)
    if grid:  # ties among knots, and points on knots
        knots, points = (4 * knots).round() / 4, (4 * points).round() / 4
    line, points = (spread * knots).sort(-1).values, spread * points
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slots, "_MANY_POINTS", 1)
        for closed in (False, True):
            expected = torch.searchsorted(line, points, right=closed)
            assert torch.equal(slots_of(line, points, closed=closed), expected)


@pytest.mark.usefixtures("always_by_table")
@pytest.mark.parametrize("knots", [[2.0, 2.0], [0.0], [-1e308, 1e308], [0.0, 5e-324], []])
def test_knots_without_a_width_are_searched(knots):
    line = torch.tensor([knots], dtype=torch.float64)
    points = torch.tensor([[-1e308, -1.0, 0.0, 2.0, 3.0, 1e308]], dtype=torch.float64)
    assert torch.equal(
        slots_of(line, points, closed=False), torch.searchsorted(line, points, right=False)
    )


@pytest.mark.usefixtures("always_by_table")
def test_points_beside_a_far_knot():
    line = torch.tensor([[0.0, 0.25, 0.25, 1e9]])
    points = torch.linspace(-1, 1, 9).unsqueeze(0)
    assert slots_of(line, points, closed=True).tolist() == [[0, 0, 0, 0, 1, 3, 3, 3, 3]]
    assert slots_of(line, points, closed=False).tolist() == [[0, 0, 0, 0, 0, 1, 3, 3, 3]]


def test_several_rows_are_searched_row_by_row():
    line, points = torch.randn(3, 5).sort(-1).values, torch.randn(3, 40)
    expected = torch.searchsorted(line, points)
    assert torch.equal(slots_of(line, points, closed=False), expected)


def test_the_engine_gives_the_same_sums(monkeypatch):
    upper = torch.randn(300, requires_grad=True)
    lower = torch.randn(4000, requires_grad=True)
    results = []
    for least in (1, 1 << 30):
        monkeypatch.setattr(slots, "_MANY_POINTS", least)
        total = pair_sum(OneSidedHuber(0.2), upper, lower)
        results.append((total, *torch.autograd.grad(total.square().sum(), (upper, lower))))
    for table, search in zip(*results, strict=True):
        assert torch.equal(table, search)
