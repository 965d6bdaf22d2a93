from __future__ import annotations

import numpy as np
import pytest

from rankwise.boosting.gradient import log_loss_gradient
from rankwise.boosting.objectives import Mixed, gradient_of

from .cases import ranked


def test_ends_are_the_two_losses() -> None:
    scores, rows = ranked()
    own = gradient_of("ap")
    for share, alone in ((0.0, log_loss_gradient), (1.0, own)):
        for mixed, plain in zip(Mixed(own, share)(scores, rows), alone(scores, rows), strict=True):
            np.testing.assert_array_equal(mixed, plain)


def test_shares_are_of_equal_gradients() -> None:
    scores, rows = ranked()
    own, plain = gradient_of("ap")(scores, rows), log_loss_gradient(scores, rows)
    factor = np.abs(plain[0]).sum() / np.abs(own[0]).sum()
    for mixed, a, b in zip(Mixed(gradient_of("ap"), 0.3)(scores, rows), plain, own, strict=True):
        np.testing.assert_allclose(mixed, 0.7 * a + 0.3 * factor * b)


def test_an_objective_without_gradient_leaves_log_loss() -> None:
    scores, rows = ranked()
    flat = Mixed(lambda s, _: (np.zeros_like(s), np.ones_like(s)), 0.5)
    slope, bend = flat(scores, rows)
    np.testing.assert_allclose(slope, 0.5 * log_loss_gradient(scores, rows)[0])
    assert (bend > 0).all()


@pytest.mark.parametrize("share", [-0.1, 1.5])
def test_share_is_a_share(share) -> None:
    with pytest.raises(ValueError, match=r"blend must be in \[0, 1\]"):
        Mixed(log_loss_gradient, share)
