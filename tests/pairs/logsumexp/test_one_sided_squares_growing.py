from __future__ import annotations

from functools import partial
from itertools import pairwise

import pytest
import torch

from rankwise.pairs._logsumexp import one_sided_squares as module
from rankwise.pairs._logsumexp.one_sided_squares import GrowingSquares


def brute(t, v):
    t, v = t.unsqueeze(-1), v.unsqueeze(-2)
    return torch.where(v < t, torch.exp(-v * (2 * t - v)), 0.0)


def lists(spread, uppers=300, lowers=200):
    torch.manual_seed(0)
    t, v = (torch.rand(2, n, dtype=torch.float64) * spread for n in (uppers, lowers))
    v[:, 0] = 0
    t[:, :20] = v[:, :20]  # ties are not below
    return t, v, *(torch.rand(2, n, dtype=torch.float64) for n in (lowers, uppers))


@pytest.mark.parametrize("spread", [0.0, 0.3, 1.0, 3.0, 9.0, 40.0, 1e3, 1e9, 1e15])
def test_sums_of_all_pairs_from_either_side(spread):
    t, v, of_lowers, of_uppers = lists(spread)
    kernel, plan = brute(t, v), GrowingSquares(t, v)
    close = partial(torch.testing.assert_close, rtol=1e-10, atol=1e-10 * max(1, min(spread, 1e12)))
    total, moment = plan.at_upper(of_lowers)
    close(total, (kernel @ of_lowers.unsqueeze(-1)).squeeze(-1))
    close(moment, (kernel @ (of_lowers * v).unsqueeze(-1)).squeeze(-1))
    total, moment = plan.at_lower(of_uppers)
    close(total, (kernel.mT @ of_uppers.unsqueeze(-1)).squeeze(-1))
    reached = t.clamp(max=1e12)
    close(moment, (kernel.mT @ (of_uppers * reached).unsqueeze(-1)).squeeze(-1))


@pytest.mark.parametrize("spread", [0.0, 1.0, 9.0, 1e15])
def test_the_rest_is_every_other_pair(spread):
    t, v, of_lowers, of_uppers = lists(spread)
    plan = GrowingSquares(t, v)
    rest = (v.unsqueeze(-2) >= t.clamp(max=1e12).unsqueeze(-1)).double()  # beyond, nothing counts
    found = plan.rest_at_upper(of_lowers)
    torch.testing.assert_close(found, (rest @ of_lowers.unsqueeze(-1)).squeeze(-1))
    found = plan.rest_at_lower(of_uppers)
    torch.testing.assert_close(found, (rest.mT @ of_uppers.unsqueeze(-1)).squeeze(-1))


@pytest.mark.parametrize("spread", [1.0, 9.0])
def test_little_memory_at_once_changes_nothing(monkeypatch, spread):
    t, v, of_lowers, of_uppers = lists(spread)
    plan = GrowingSquares(t, v)
    at_once = [*plan.at_upper(of_lowers), *plan.at_lower(of_uppers)]
    monkeypatch.setattr(module, "_BLOCK_NUMBERS", 2000)
    in_parts = [*plan.at_upper(of_lowers), *plan.at_lower(of_uppers)]
    for part, whole in zip(in_parts, at_once, strict=True):
        torch.testing.assert_close(part, whole, rtol=1e-12, atol=1e-12)


def test_the_series_end_where_the_docstring_says():
    """Every cell, its edges included, with lowers all along it: one list for each of them."""
    for low, high in pairwise(torch.tensor(module._EDGES, dtype=torch.float64)):
        last = torch.nextafter(high, low)
        t = (low + torch.linspace(0, 1, 9, dtype=torch.float64) * (last - low)).expand(400, -1)
        v = torch.linspace(0, 1, 400, dtype=torch.float64) * min(float(last), module._REACH)
        total, _ = GrowingSquares(t, v.unsqueeze(-1)).at_upper(torch.ones_like(v).unsqueeze(-1))
        assert (total - brute(t, v.unsqueeze(-1)).squeeze(-1)).abs().max() < 3e-11
