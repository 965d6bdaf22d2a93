from __future__ import annotations

import pytest
import torch
from tests.pairs.cases import SURROGATES

from rankwise.pairs._engine.autograd import Block


@pytest.mark.parametrize("sizes", [(5, 30), (30, 5)])
@pytest.mark.parametrize("surrogate", SURROGATES, ids=str)
def test_sums_to_either_side_for_several_forms_at_once(surrogate, sizes):
    torch.manual_seed(0)
    upper, lower = (10 + torch.randn(2, n, dtype=torch.float64) for n in sizes)
    forms = (surrogate.form(0), surrogate.form(1))
    block = Block(forms[0], upper, lower)
    x = upper.unsqueeze(-1) - lower.unsqueeze(-2)
    above, below = torch.randn_like(upper), torch.randn_like(lower)
    functions = (surrogate.value, surrogate.derivative)
    for result, function in zip(block.at_upper(forms, below), functions, strict=True):
        expected = (function(x) * below.unsqueeze(-2)).sum(-1)
        torch.testing.assert_close(result, expected, rtol=1e-7, atol=1e-6)
    for result, function in zip(block.at_lower(forms, above), functions, strict=True):
        expected = (function(x) * above.unsqueeze(-1)).sum(-2)
        torch.testing.assert_close(result, expected, rtol=1e-7, atol=1e-6)
