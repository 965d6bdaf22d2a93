"""Sums over pairs in the order of keys, against the double loop."""

from __future__ import annotations

import pytest
import torch

from rankwise.pairs import Hinge, Sigmoid, ZeroOne
from rankwise.pairs.ordered import dense_ranks, pair_sum_below


def loop(surrogate, scores, keys, weight):
    rows = []
    for s, key, w in zip(scores, keys, weight, strict=True):
        pairs = surrogate.value(s[:, None] - s) * w * (key < key[:, None])
        rows.append(pairs.sum(1))
    return torch.stack(rows)


def data(levels: int | None, lists: int = 3, n: int = 40):
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(lists, n, dtype=torch.float64, generator=generator)
    scores = (4 * scores).round() / 4  # with ties
    keys = torch.rand(lists, n, dtype=torch.float64, generator=generator)
    keys = keys if levels is None else (levels * keys).floor()
    weight = torch.rand(lists, n, dtype=torch.float64, generator=generator)
    weight[:, 5] = 0
    return scores.requires_grad_(), keys, weight.requires_grad_()


@pytest.mark.parametrize("surrogate", [ZeroOne(), Hinge(0.5), Sigmoid(2.0)], ids=str)
@pytest.mark.parametrize("levels", [1, 2, 3, 5, None])
def test_values_and_gradients_are_those_of_the_double_loop(surrogate, levels):
    scores, keys, weight = data(levels)
    found = pair_sum_below(surrogate, scores, keys, weight=weight)
    expected = loop(surrogate, scores, keys, weight)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-9)
    factor = torch.randn(found.shape, dtype=torch.float64)
    if levels == 1:
        assert (found == 0).all()  # no key is below another
        return
    got = torch.autograd.grad((factor * found).sum(), (scores, weight))
    if surrogate != ZeroOne():  # whose slope is not that of its values
        wanted = torch.autograd.grad((factor * expected).sum(), (scores, weight))
        torch.testing.assert_close(got, wanted, rtol=1e-6, atol=1e-8)


def test_long_lists_and_no_weights():
    scores, keys, _ = data(None, lists=2, n=700)
    found = pair_sum_below(Hinge(), scores, keys)
    torch.testing.assert_close(found, loop(Hinge(), scores, keys, torch.ones(2, 700)))


def test_lists_of_different_numbers_of_keys_do_not_mix():
    scores = torch.zeros(2, 4, dtype=torch.float64)
    keys = torch.tensor([[0.0, 0, 0, 9], [5, 1, 3, 2]])
    expected = torch.tensor([[0.0, 0, 0, 3], [3, 0, 2, 1]], dtype=torch.float64)
    torch.testing.assert_close(pair_sum_below(ZeroOne(), scores, keys), expected)


def test_single_precision_stays_and_half_becomes_single():
    keys = torch.tensor([[1.0, 2.0]])
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        found = pair_sum_below(Hinge(), torch.zeros(1, 2, dtype=dtype), keys)
        assert found.dtype == torch.float32
        assert found.tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize("n", [0, 1])
def test_lists_without_pairs(n):
    assert pair_sum_below(Hinge(), torch.zeros(2, n), torch.zeros(2, n)).tolist() == [[0.0] * n] * 2


def test_dense_ranks_count_smaller_distinct_keys():
    keys = torch.tensor([[3.0, 1.0, 3.0, 2.0], [0.0, 0.0, 0.0, 0.0]])
    assert dense_ranks(keys).tolist() == [[2, 0, 2, 1], [0, 0, 0, 0]]
