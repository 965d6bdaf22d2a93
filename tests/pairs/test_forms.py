from __future__ import annotations

import pytest
import torch
from tests.pairs.cases import SURROGATES

from rankwise.pairs.forms import PairForm, Piece, form_of


def evaluate(form: PairForm, x: torch.Tensor) -> torch.Tensor:
    """The formula in the module's docstring, term by term."""
    total = sum((c * x**d for d, c in enumerate(form.tail)), torch.zeros_like(x))
    for b, jump in zip(form.breaks, form.jumps, strict=True):
        inside = x <= b if form.closed else x < b
        for d, c in enumerate(jump):
            total = total + torch.where(inside, c * (b - x) ** d, 0)
    z = torch.exp(-form.rate * x.abs())
    for k, c in enumerate(form.right, start=1):
        total = total + torch.where(x >= 0, c * z**k, 0)
    for k, c in enumerate(form.left, start=1):
        total = total + torch.where(x < 0, c * z**k, 0)
    for k, c in enumerate(form.rise, start=1):
        total = total + torch.where(x < 0, c * (1 - z**k), 0)
    return total + form.growth * torch.exp(-form.rate * x)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("surrogate", SURROGATES, ids=str)
def test_the_form_is_the_function(surrogate, order):
    x = torch.linspace(-6, 6, 4001, dtype=torch.float64)
    function = [surrogate.value, surrogate.derivative, surrogate.curvature][order]
    torch.testing.assert_close(
        evaluate(surrogate.form(order), x), function(x), rtol=1e-6, atol=2e-6
    )


def test_rounding_of_a_continuous_function_makes_no_jump():
    tau = 0.1  # 1 − 2 + 1 in floating point is 2e-16
    quadratic = Piece(0.0, tau, (1.0, -2 / tau, tau**-2))
    form = form_of((quadratic, Piece(tau, 1.0)))
    assert form.jumps[0][:2] == (0.0, 0.0)


def test_tails_that_do_not_meet_at_zero_are_refused():
    with pytest.raises(ValueError, match="meet at 0"):
        form_of((Piece(-1.0, 1.0, decay=(1.0,), rate=1.0), Piece(1.0, 2.0)))
