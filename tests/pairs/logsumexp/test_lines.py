from __future__ import annotations

import pytest
import torch
from tests.pairs.logsumexp.cases import assert_slopes_agree

from rankwise.pairs._logsumexp.lines import highest, log_sum_exp_of_lines, safe_log
from rankwise.pairs.surrogates import Hinge, Linear


@pytest.mark.parametrize("sizes", [(40, 30), (30, 40)])
@pytest.mark.parametrize("temperature", [1e-3, 0.5, 20.0])
@pytest.mark.parametrize("surrogate", [Hinge(0.7), Linear(0.7)], ids=str)
def test_value_and_gradients_are_those_of_the_pairs(surrogate, temperature, sizes):
    torch.manual_seed(0)
    upper, lower, weight = (torch.rand(2, n).double() for n in (*sizes, sizes[1]))
    weight[:, lower.argmax(-1)] = 0  # the highest does not count
    inputs = [x.requires_grad_() for x in (upper, lower, weight)]
    fast = log_sum_exp_of_lines(surrogate, temperature, *inputs)
    exponent = surrogate.value(upper.unsqueeze(-1) - lower.unsqueeze(-2)) / temperature
    slow = torch.logsumexp(exponent + weight.log().unsqueeze(-2), -1)
    torch.testing.assert_close(fast, slow)
    assert_slopes_agree(fast, slow, inputs[:2])


def test_the_highest_that_counts():
    lower = torch.tensor([[1.0, 3.0, 2.0], [5.0, 6.0, 7.0]])
    weight = torch.tensor([[1.0, 0.0, 0.5], [0.0, 0.0, 0.0]])
    assert highest(lower, weight).tolist() == [[2.0], [0.0]]


def test_the_logarithm_of_nothing_has_no_slope():
    x = torch.tensor([0.0, 2.0], requires_grad=True)
    found = safe_log(x, floor=-5.0)
    torch.testing.assert_close(found.detach(), torch.tensor([-5.0, 2.0]).where(x == 0, x.log()))
    assert torch.autograd.grad(found.sum(), x)[0].tolist() == [0.0, 0.5]
