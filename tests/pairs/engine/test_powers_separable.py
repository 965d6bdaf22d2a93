from __future__ import annotations

import pytest
import torch

from rankwise.pairs import Exponential, Linear, Square
from rankwise.pairs._engine.powers import add_separable


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("surrogate", [Square(0.5), Linear(2.0), Exponential(0.7)], ids=str)
def test_both_sides_equal_the_definition(surrogate, order):
    torch.manual_seed(0)
    upper, lower = torch.randn(2, 5, dtype=torch.float64), torch.randn(2, 7, dtype=torch.float64)
    above, below = torch.randn_like(upper), torch.randn_like(lower)
    function = [surrogate.value, surrogate.derivative, surrogate.curvature][order]
    pairs = function(upper.unsqueeze(-1) - lower.unsqueeze(-2))
    form = surrogate.form(order)
    result = torch.zeros_like(upper)
    add_separable(result, form, upper, lower, below, 1)
    torch.testing.assert_close(result, (pairs * below.unsqueeze(-2)).sum(-1))
    result = torch.zeros_like(lower)
    add_separable(result, form, lower, upper, above, -1)
    torch.testing.assert_close(result, (pairs * above.unsqueeze(-1)).sum(-2))
