"""The constants of a loss that the theorems assume: its bound B, gradient bound G, smoothness L."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from rankwise.checks import require_count, require_positive
from rankwise.theory.differences import Loss
from rankwise.theory.twins import TwinTraining, clouds, initial_weights, scores_of

_FAR, _BISECTIONS = 0.1, 10  # gradients are compared at the distances 0.1 and 0.1/2¹⁰
_POWER_STEPS = 3  # of the search for the direction in which the gradient changes most


@dataclass(frozen=True)
class LossConstants:
    """Largest value, gradient and change of the gradient found: lower bounds of B, G and L.

    Attributes:
        value: B, the largest |f̂(w; z)|.
        gradient: G, the largest ‖∇f̂(w; z)‖₂.
        smoothness: L, the largest ‖∇f̂(w; z) − ∇f̂(w̃; z)‖₂/‖w − w̃‖₂, at the distances 0.1 and,
            where the gradient changes most in between, 0.0001.
        smoothness_far: The same at the distance 0.1 only.

    Example:
        >>> from rankwise.theory import LossConstants
        >>> LossConstants(1.0, 2.0, smoothness=4000.0, smoothness_far=4.0).is_smooth
        False
    """

    value: float
    gradient: float
    smoothness: float
    smoothness_far: float

    @property
    def is_smooth(self) -> bool:
        """Whether the gradient seems Lipschitz; one that jumps is far steeper near the jump."""
        return self.smoothness <= 30 * self.smoothness_far


def loss_constants(
    factory: Callable[[], Loss],
    *,
    training: TwinTraining | None = None,
    radius: float = 1.0,
    draws: int = 50,
    seed: int = 0,
) -> LossConstants:
    """Measure B, G and L of Assumptions 1 and 2 over batches z and weights w of a small model.

    The weights are drawn within a ball around the start of the training. A loss with a memory is
    called once, so that the memory starts with the batch, and keeps it.

    Args:
        factory: Makes a fresh loss of the scores (batch,) and targets of one batch.
        training: Settings of the model and of the batches.
        radius: Radius of the ball of weights.
        draws: Number of batches, each with its own weights.
        seed: Seed of batches and weights.

    Returns:
        The largest values found.

    Example:
        >>> from rankwise.theory import loss_constants
        >>> found = loss_constants(lambda: lambda scores, target: scores[target].mean())
        >>> found.smoothness < 1e-6  # a linear function of the weights
        True

    Reference:
        SOPRC, Assumptions 1 and 2.
    """
    training = TwinTraining() if training is None else training
    require_positive("radius", radius)
    require_count("draws", draws)
    generator = torch.Generator().manual_seed(seed)
    start = initial_weights(training, generator).double()
    found = [_measure(factory(), start, training, radius, generator) for _ in range(draws)]
    return LossConstants(*torch.tensor(found, dtype=torch.float64).amax(0).tolist())


def _measure(
    loss: Loss, start: Tensor, t: TwinTraining, radius: float, generator: torch.Generator
) -> list[float]:
    """Return |value|, the norm of the gradient and its changes, far and near, for one batch."""
    features = clouds(t.batch_positives, t.batch_negatives, t, generator).double().unsqueeze(0)
    target = torch.arange(t.batch_positives + t.batch_negatives) < t.batch_positives

    def at(weights: Tensor) -> tuple[float, Tensor]:
        weights = weights.detach().requires_grad_()
        value = loss(scores_of(features, weights.unsqueeze(0), t).squeeze(0), target)
        (gradient,) = torch.autograd.grad(value, weights)
        return float(value.detach()), gradient

    def direction() -> Tensor:
        return normalize(torch.randn(len(start), generator=generator).double(), dim=0)

    share = float(torch.rand((), generator=generator))
    place = start + radius * share * direction()
    value, gradient = at(place)
    if isinstance(loss, nn.Module):
        loss.eval()
    way = direction()
    far = 0.0
    for _ in range(_POWER_STEPS):
        other = at(place + _FAR * way)[1]
        change = (other - gradient) / _FAR
        far = max(far, float(change.norm()))
        if far == 0:
            break
        way = normalize(change, dim=0)
    near = _nearby(at, place, place + _FAR * way)
    return [abs(value), float(gradient.norm()), max(far, near), far]


def _nearby(at: Callable[[Tensor], tuple[float, Tensor]], left: Tensor, right: Tensor) -> float:
    """Return the slope of the gradient in the part where it changes most, by bisection."""
    below, above = at(left)[1], at(right)[1]
    for _ in range(_BISECTIONS):
        middle = (left + right) / 2
        between = at(middle)[1]
        if (between - below).norm() > (above - between).norm():
            right, above = middle, between
        else:
            left, below = middle, between
    return float((above - below).norm() / (right - left).norm())
