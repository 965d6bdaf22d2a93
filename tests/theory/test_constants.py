"""B, G and L of losses for which they are known."""

from __future__ import annotations

import pytest
import torch

from rankwise.objectives import SOPRC, PairwiseAUC
from rankwise.pairs import Hinge
from rankwise.theory import TwinTraining, loss_constants
from rankwise.theory.twins import clouds, initial_weights

SMALL = TwinTraining(width=4, batch_positives=4, batch_negatives=8)


def squares(scores, target):
    return scores.square().sum() / 2


def test_a_quadratic_has_the_largest_eigenvalue_of_its_hessian():
    generator = torch.Generator().manual_seed(3)
    initial_weights(SMALL, generator)
    features = clouds(4, 8, SMALL, generator).double()
    features = torch.cat([features, torch.ones(12, 1)], dim=1)
    largest = float(torch.linalg.eigvalsh(features.T @ features)[-1])
    found = loss_constants(lambda: squares, training=SMALL, draws=1, seed=3)
    assert 0.8 * largest < found.smoothness <= largest * (1 + 1e-6)
    assert found.smoothness == pytest.approx(found.smoothness_far, rel=0.05)
    assert found.is_smooth


def test_a_constant_has_no_gradient():
    found = loss_constants(lambda: lambda scores, target: 0 * scores.sum() - 3, training=SMALL)
    assert (found.value, found.gradient, found.smoothness) == (3, 0, 0)
    assert found.is_smooth


@pytest.mark.parametrize("hidden", [None, 3])
def test_twice_the_loss_has_twice_the_constants(hidden):
    training = TwinTraining(width=4, hidden=hidden)
    one, two = (
        loss_constants(lambda f=f: lambda s, t: f * squares(s, t), training=training, draws=3)
        for f in (1, 2)
    )
    for name in ("value", "gradient", "smoothness", "smoothness_far"):
        assert getattr(two, name) == pytest.approx(2 * getattr(one, name))


@pytest.mark.parametrize(
    "loss", [PairwiseAUC(Hinge()), lambda s, t: s[~t].max(), lambda s, t: s.abs().mean()]
)
def test_a_gradient_that_jumps_is_found(loss):
    assert not loss_constants(lambda: loss, training=SMALL, draws=30).is_smooth


def test_the_squared_hinge_is_smooth():
    assert loss_constants(PairwiseAUC, training=SMALL, draws=30).is_smooth


def test_a_memory_is_kept_while_the_weights_change():
    seen = []

    class Watched(SOPRC):
        def forward(self, scores, target, **more):
            value = super().forward(scores, target, **more)
            seen.append(self.vector.value.clone())
            return value

    loss = Watched(0.5, gain="fixed", score_scale=1.0)
    loss_constants(lambda: loss, training=SMALL, draws=1)
    assert len(seen) > 3
    assert all(torch.equal(v, seen[0]) for v in seen)


def test_errors_name_the_argument():
    with pytest.raises(ValueError, match=r"^radius must"):
        loss_constants(lambda: squares, radius=0.0)
    with pytest.raises(ValueError, match=r"^draws must"):
        loss_constants(lambda: squares, draws=0)
