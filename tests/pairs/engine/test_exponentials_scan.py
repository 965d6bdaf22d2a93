from __future__ import annotations

import pytest
import torch

from rankwise.pairs._engine.exponentials import decayed_cumsum


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 16, 17, 100])
def test_equals_the_recurrence(n):
    torch.manual_seed(0)
    x, decay = torch.randn(2, 3, n, dtype=torch.float64), torch.rand(2, 3, n, dtype=torch.float64)
    expected = x.clone()
    for i in range(1, n):
        expected[..., i] = x[..., i] + decay[..., i] * expected[..., i - 1]
    torch.testing.assert_close(decayed_cumsum(x, decay), expected)


def test_the_input_is_left_alone():
    x, decay = torch.ones(10), torch.full((10,), 0.5)
    decayed_cumsum(x, decay)
    assert (x == 1).all()
    assert (decay == 0.5).all()


def test_a_vanishing_decay_forgets_without_a_nan():
    x, decay = torch.ones(1000), torch.full((1000,), 1e-300)
    assert (decayed_cumsum(x, decay.double()) == 1).all()
