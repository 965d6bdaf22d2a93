from __future__ import annotations

from itertools import pairwise

import pytest
import torch

from rankwise.pairs import growing_squares as module
from rankwise.pairs.growing_squares import growing_squares


def brute(t, v):
    t, v = t.unsqueeze(-1), v.unsqueeze(-2)
    return torch.where(v < t, torch.exp(-v * (2 * t - v)), 0.0)


def lists(spread, uppers=300, lowers=200):
    torch.manual_seed(0)
    t, v = (torch.rand(2, n, dtype=torch.float64) * spread for n in (uppers, lowers))
    v[:, 0] = 0
    t[:, :20] = v[:, :20]  # ties are not below
    weights = (torch.rand(2, 2, n, dtype=torch.float64) for n in (lowers, uppers))
    return t, v, *weights


@pytest.mark.parametrize("spread", [0.0, 0.3, 1.0, 3.0, 9.0, 40.0, 1e3, 1e9, 1e15])
def test_sums_of_all_pairs_from_either_side(spread):
    t, v, of_lowers, of_uppers = lists(spread)
    kernel, plan = brute(t, v), growing_squares(t, v)
    expected = (kernel @ of_lowers.unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close(plan.at_upper(of_lowers), expected, rtol=1e-10, atol=1e-12)
    expected = (kernel.mT @ of_uppers.unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close(plan.at_lower(of_uppers), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("spread", [0.0, 1.0, 9.0, 1e15])
def test_the_rest_is_every_other_pair(spread):
    t, v, of_lowers, of_uppers = lists(spread)
    rest, plan = (v.unsqueeze(-2) >= t.unsqueeze(-1)).double(), growing_squares(t, v)
    if spread > 1e12:  # beyond which nothing is told apart, and nothing counts
        rest = (v.unsqueeze(-2) >= t.clamp(max=1e12).unsqueeze(-1)).double()
    found = plan.rest_at_upper(of_lowers[0])
    torch.testing.assert_close(found, (rest @ of_lowers[0].unsqueeze(-1)).squeeze(-1))
    found = plan.rest_at_lower(of_uppers[0])
    torch.testing.assert_close(found, (rest.mT @ of_uppers[0].unsqueeze(-1)).squeeze(-1))


@pytest.mark.parametrize("spread", [1.0, 9.0])
def test_little_memory_at_once_changes_nothing(monkeypatch, spread):
    t, v, of_lowers, of_uppers = lists(spread)
    plan = growing_squares(t, v)
    at_once = plan.at_upper(of_lowers), plan.at_lower(of_uppers)
    monkeypatch.setattr(module, "_AT_ONCE", 2000)
    torch.testing.assert_close(plan.at_upper(of_lowers), at_once[0], rtol=1e-13, atol=1e-15)
    torch.testing.assert_close(plan.at_lower(of_uppers), at_once[1], rtol=1e-13, atol=1e-13)


def test_the_series_end_where_the_docstring_says():
    """The worst pair of every cell, at its edges, for the far and for the near series."""
    edges = torch.tensor(module._EDGES, dtype=torch.float64)
    for low, high in pairwise(edges):
        last = torch.nextafter(high, low)
        t = low + torch.linspace(0, 1, 9, dtype=torch.float64) * (last - low)
        v = torch.linspace(0, 1, 400, dtype=torch.float64) * min(float(t[-1]), module._REACH)
        plan = growing_squares(t.unsqueeze(0), v.unsqueeze(0))
        each = torch.eye(len(v), dtype=torch.float64).unsqueeze(1)
        error = plan.at_upper(each).squeeze(1).T - brute(t, v)
        assert error.abs().max() < 3e-11
