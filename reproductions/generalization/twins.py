"""SOPRC's Theorem 1: twins trained by SGD give ε⁺ and ε⁻, and the same models the gap."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from rankwise.objectives import Objective
from rankwise.theory import mean_of, stability_gap_bound
from reproductions.generalization.losses import make_loss, risks, top_of
from reproductions.generalization.problems import Gaussian
from reproductions.generalization.training import (
    mean_risks,
    others_mean,
    project,
    scores_of,
    start_of,
)

TWIN_LOSSES = ("SOPRC", "StableAP", "plain AP", "SmoothAP", "AUC")
BATCH_POSITIVES, BATCH_NEGATIVES = 8, 24
NEGATIVES = 3  # for each positive of the data
TWINS = 4  # replaced examples of each class
STEPS, LEARNING_RATE, EMA_RATE = 100, 0.02, 0.1
BATCHES = 500  # of which the risks are means


@dataclass(frozen=True)
class Twins:
    """Stability and gap of one loss; a value for each data set.

    ``positive`` and ``negative`` are mean distances of twins, ``centered`` is the gap less that of
    the mean of the other models, and ``gradient`` the largest norm of a gradient in training.
    """

    loss: str
    n_positives: int
    positive: list[float]
    negative: list[float]
    gaps: list[float]
    centered: list[float]
    gradient: float

    @property
    def bound(self) -> float:
        """G(n⁺ε⁺ + n⁻ε⁻), with the largest gradient seen for G."""
        stability = (mean_of(self.positive).value, mean_of(self.negative).value)
        return stability_gap_bound(self.gradient, *stability, BATCH_POSITIVES, BATCH_NEGATIVES)


def measure_twins(
    problem: Gaussian, name: str, n_positives: int, *, radius: float, repeats: int, seed: int
) -> Twins:
    """Train on ``repeats`` data sets, and on each with one example replaced."""
    generator = torch.Generator().manual_seed(seed)
    n = n_positives * (1 + NEGATIVES)
    data = problem.draw(repeats, n_positives, n - n_positives, generator)
    copies = data.unsqueeze(1).repeat(1, 1 + 2 * TWINS, 1, 1)
    anew = problem.draw(repeats, TWINS, TWINS, generator)
    for twin in range(2 * TWINS):
        low, high = (0, n_positives) if twin < TWINS else (n_positives, n)
        places = torch.randint(low, high, (repeats,), generator=generator)
        copies[torch.arange(repeats), 1 + twin, places] = anew[:, twin]
    start = start_of(problem.draw(repeats, 20, 20, generator).unsqueeze(1), 20, radius)
    weights = start.unsqueeze(1).repeat(1, copies.shape[1], 1).requires_grad_()
    loss = make_loss(name, weights[..., 0].numel(), top_of(BATCH_NEGATIVES), EMA_RATE)
    gradient = 0.0
    for _ in range(STEPS):
        batch = _batches(copies, _places(repeats, 1, n_positives, n, generator)[:, 0])
        gradient = max(gradient, _step(loss, weights, batch, radius))
    own = weights.detach()
    away = (own[:, 1:] - own[:, :1]).norm(dim=2)
    chosen = _places(repeats, BATCHES, n_positives, n, generator)
    train, test = [], []
    for model in (own[:, 0], others_mean(own[:, 0])):
        again = torch.Generator().manual_seed(seed + 1)  # the same fresh batches for both
        seen = data[torch.arange(repeats)[:, None, None], chosen]
        fresh = problem.fresh(model, BATCHES, BATCH_POSITIVES, BATCH_NEGATIVES, again)
        train.append(_mean_risks(name, scores_of(model, seen)))
        test.append(_mean_risks(name, torch.tanh(fresh)))
    gaps, others = (b - a for a, b in zip(train, test, strict=True))
    return Twins(
        loss=name,
        n_positives=n_positives,
        positive=away[:, :TWINS].mean(1).tolist(),
        negative=away[:, TWINS:].mean(1).tolist(),
        gaps=gaps.tolist(),
        centered=(gaps - others).tolist(),
        gradient=gradient,
    )


def _places(
    repeats: int, batches: int, n_positives: int, n: int, generator: torch.Generator
) -> Tensor:
    """Return places in the data, (repeats, batches, examples), drawn with replacement."""
    shape = (repeats, batches)
    above = torch.randint(n_positives, (*shape, BATCH_POSITIVES), generator=generator)
    below = torch.randint(n_positives, n, (*shape, BATCH_NEGATIVES), generator=generator)
    return torch.cat([above, below], dim=2)


def _batches(copies: Tensor, places: Tensor) -> Tensor:
    """Return the same places of every copy, (repeats, copies, examples, features)."""
    repeats, twins = torch.arange(len(copies)), torch.arange(copies.shape[1])
    return copies[repeats[:, None, None], twins[None, :, None], places[:, None, :]]


def _step(loss: Objective, weights: Tensor, batch: Tensor, radius: float) -> float:
    """Take a step of SGD; return the largest norm of a gradient."""
    scores = torch.tanh(torch.einsum("rtbf,rtf->rtb", batch, weights)).flatten(0, 1)
    (slope,) = torch.autograd.grad(risks(loss, scores, BATCH_POSITIVES).sum(), weights)
    with torch.no_grad():
        weights -= LEARNING_RATE * slope
        project(weights, radius)
    return float(slope.norm(dim=2).max())


def _mean_risks(name: str, scores: Tensor) -> Tensor:
    k = top_of(BATCH_NEGATIVES)
    return mean_risks(
        lambda rows: risks(make_loss(name, len(rows), k), rows, BATCH_POSITIVES), scores
    )
