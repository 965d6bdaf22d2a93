from __future__ import annotations

import pytest
import torch

from rankwise.pairs._logsumexp import octaves as module
from rankwise.pairs._logsumexp.octaves import ORDER, Octaves, uses


def points(rows=3, n=200):
    """In two sets, over sixty octaves, with 0 and both sides of an edge."""
    torch.manual_seed(0)
    at = torch.exp2(-60 * torch.rand(rows, n, dtype=torch.float64) ** 2) * (1 - 2**-53)
    first = torch.rand(rows, n) < 0.5
    at[:, :4] = torch.tensor([0.0, 2.0**-8, 2.0**-8 - 2**-61, 1 - 2**-53], dtype=at.dtype)
    first[:, :3] = True
    return at, first


FUNCTIONS = {
    "a power": lambda x: (x + 0.01) ** 0.3,
    "the steepest exponential of the first cell": lambda x: torch.exp(-(2.0**10) * x),
    "a singularity at 0, in whatever octave": lambda x: x.log(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_the_nodes_is_that_of_the_points(name):
    at, first = points()
    if name.startswith("a singularity"):
        first[:] = False
        at.clamp_(min=2.0**-60)
    cells = Octaves(at, first, -8)
    values = FUNCTIONS[name](cells.nodes).expand(len(at), -1)
    torch.testing.assert_close(cells.at_points(values), FUNCTIONS[name](at), rtol=1e-11, atol=1e-11)


def test_the_sets_have_nodes_of_their_own():
    at, first = points()
    cells = Octaves(at, first, -8)
    value = torch.where(cells.first, 1.0, 2.0).double().expand(len(at), -1)
    expected = torch.where(first, 1.0, 2.0).double()
    torch.testing.assert_close(cells.at_points(value), expected)


def test_there_and_back_are_each_others_transpose():
    at, first = points()
    cells = Octaves(at, first, -8)
    weight, value = torch.randn_like(at), torch.randn(len(at), len(cells.nodes)).double()
    there = (cells.to_nodes(weight) * value).sum()
    torch.testing.assert_close(there, (weight * cells.at_points(value)).sum())


def test_nodes_are_in_cells_that_hold_a_point():
    at = torch.tensor([[0.6, 0.001, 0.3]], dtype=torch.float64)
    cells = Octaves(at, torch.tensor([[True, True, False]]), -8)
    within = [(0, 2**-8, True), (0.5, 1, True), (0.25, 0.5, False)]
    for (low, high, first), nodes, sets in zip(
        within, cells.nodes.view(-1, ORDER), cells.first.view(-1, ORDER), strict=True
    ):
        assert bool((nodes > low).all() and (nodes < high).all())
        assert bool((sets == first).all())
    assert uses(cells, cells) == (3 * ORDER) ** 2 * 17 / 16


def test_in_parts_it_is_the_same(monkeypatch):
    at, first = points()
    weight = torch.randn_like(at)
    whole = Octaves(at, first, -8)
    there = whole.to_nodes(weight)
    back = whole.at_points(there)
    monkeypatch.setattr(module, "_BLOCK_NUMBERS", 500)
    parts = Octaves(at, first, -8)
    torch.testing.assert_close(parts.to_nodes(weight), there)
    torch.testing.assert_close(parts.at_points(there), back)
    assert "_polynomials" not in vars(parts)  # of many points nothing is kept


def test_rows_are_lists_of_their_own():
    at, first = points()
    weight = torch.randn_like(at)
    cells = Octaves(at, first, -8)
    together = cells.at_points(cells.to_nodes(weight))
    for row in range(len(at)):
        alone = Octaves(at[row : row + 1], first[row : row + 1], -8)
        found = alone.at_points(alone.to_nodes(weight[row : row + 1]))
        torch.testing.assert_close(found[0], together[row])
