"""The problem that twin models are trained on: two Gaussian classes and a small model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from rankwise.checks import require_count, require_one_of, require_positive


@dataclass(frozen=True)
class TwinTraining:
    """Training of a small model on two Gaussian classes by plain SGD.

    Features of positives and negatives are N(±shift/2, 1) along a fixed direction. Batches are
    drawn with replacement.

    Args:
        negatives_per_positive: Negatives in the data set for each positive.
        width: Number of features.
        shift: Distance of the class means.
        hidden: Number of tanh units of one hidden layer; None for a linear model.
        batch_positives, batch_negatives: Examples of each class in a batch.
        learning_rate: Learning rate η of SGD, or C of the falling one.
        schedule: ``"constant"``: η_t = η; ``"inverse"``: η_t = C/t, as in Theorem 2 of SOPRC.
        warm_up: Steps of cross-entropy on other data before the models differ.
        twins: Replaced examples of each class in every data set.

    Example:
        >>> from rankwise.theory import TwinTraining
        >>> TwinTraining(learning_rate=0.5, schedule="inverse").rate(2)
        0.25
    """

    negatives_per_positive: int = 9
    width: int = 10
    shift: float = 2.0
    hidden: int | None = None
    batch_positives: int = 8
    batch_negatives: int = 24
    learning_rate: float = 0.01
    schedule: Literal["constant", "inverse"] = "constant"
    warm_up: int = 10
    twins: int = 8

    def __post_init__(self) -> None:
        counts = "negatives_per_positive width batch_positives batch_negatives twins"
        for name in counts.split():
            require_count(name, getattr(self, name))
        require_positive("learning_rate", self.learning_rate)
        require_one_of("schedule", self.schedule, ("constant", "inverse"))
        if self.hidden is not None:
            require_count("hidden", self.hidden)

    def rate(self, step: int) -> float:
        """Return the learning rate η_t of a step t ≥ 1."""
        return self.learning_rate / (step if self.schedule == "inverse" else 1)


def clouds(positives: int, negatives: int, t: TwinTraining, generator: torch.Generator) -> Tensor:
    """Draw features, (positives + negatives, width), positives first."""
    center = t.shift / 2 / math.sqrt(t.width)
    above = torch.randn(positives, t.width, generator=generator) + center
    return torch.cat([above, torch.randn(negatives, t.width, generator=generator) - center])


def initial_weights(t: TwinTraining, generator: torch.Generator) -> Tensor:
    """Return weights, in one row, after a few steps of cross-entropy on other data."""
    layers = [(t.width, 1)] if t.hidden is None else [(t.width, t.hidden), (t.hidden, 1)]
    parts = []
    for inputs, outputs in layers:
        drawn = torch.randn(inputs * outputs, generator=generator) / math.sqrt(inputs)
        parts += [drawn, torch.zeros(outputs)]
    weights = torch.cat(parts).unsqueeze(0).requires_grad_()
    optimizer = torch.optim.SGD([weights], lr=0.5)
    data = clouds(100, 100, t, generator).unsqueeze(0)
    target = (torch.arange(200) < 100).float().unsqueeze(0)
    for _ in range(t.warm_up):
        optimizer.zero_grad()
        binary_cross_entropy_with_logits(scores_of(data, weights, t), target).backward()
        optimizer.step()
    return weights.detach().squeeze(0)


def scores_of(features: Tensor, weights: Tensor, t: TwinTraining) -> Tensor:
    """Return scores (models, batch) of features (models, batch, width) by weights (models, …)."""
    if t.hidden is not None:
        first, bias, weights = weights.split([t.width * t.hidden, t.hidden, t.hidden + 1], dim=1)
        layer = first.view(-1, t.width, t.hidden)
        features = torch.tanh(torch.baddbmm(bias.unsqueeze(1), features, layer))
    return torch.einsum("mbw,mw->mb", features, weights[:, :-1]) + weights[:, -1:]
