from __future__ import annotations

import numpy as np
import pytest

from rankwise.boosting import lightgbm_objective
from rankwise.boosting.gradient import log_loss_gradient
from rankwise.boosting.objectives import BoosterObjective, gradient_of

from .cases import ranked


def mixture(gradient, share):
    return BoosterObjective("ap", 0, gradient, share).mixed


def test_ends_are_the_two_losses() -> None:
    scores, rows = ranked()
    own = gradient_of("ap")
    for share, alone in ((0.0, log_loss_gradient), (1.0, own)):
        for mixed, plain in zip(
            mixture(own, share)(scores, rows), alone(scores, rows), strict=True
        ):
            np.testing.assert_array_equal(mixed, plain)


def test_shares_are_of_equal_gradients() -> None:
    scores, rows = ranked()
    own, plain = gradient_of("ap")(scores, rows), log_loss_gradient(scores, rows)
    factor = np.abs(plain[0]).sum() / np.abs(own[0]).sum()
    for mixed, a, b in zip(mixture(gradient_of("ap"), 0.3)(scores, rows), plain, own, strict=True):
        np.testing.assert_allclose(mixed, 0.7 * a + 0.3 * factor * b)


def test_an_objective_without_gradient_leaves_log_loss() -> None:
    scores, rows = ranked()
    flat = mixture(lambda s, _: (np.zeros_like(s), np.ones_like(s)), 0.5)
    slope, bend = flat(scores, rows)
    np.testing.assert_allclose(slope, 0.5 * log_loss_gradient(scores, rows)[0])
    assert (bend > 0).all()


@pytest.mark.parametrize("share", [-0.1, 1.5])
def test_share_is_a_share(share) -> None:
    with pytest.raises(ValueError, match=r"blend must be in \[0, 1\]"):
        lightgbm_objective("ap", blend=share)
