"""Many linear models side by side: trained on their own samples, and their risks."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from rankwise.objectives import Objective
from reproductions.generalization.losses import risks

LossOf = Callable[[Tensor], Tensor]
"""Values of rows of scores, (rows, items) to (rows,)."""

_ITEMS = 1 << 19  # scores of one call, which bounds the memory


def scores_of(weights: Tensor, features: Tensor) -> Tensor:
    """Return tanh(w·x), (models, lists, items), of features (models, lists, items, features)."""
    return torch.tanh(torch.einsum("mlif,mf->mli", features, weights))


def start_of(features: Tensor, n_positives: int, radius: float) -> Tensor:
    """Return the difference of the class means of every sample, scaled to half the radius."""
    above, below = features[:, :, :n_positives], features[:, :, n_positives:]
    gap = above.mean((1, 2)) - below.mean((1, 2))
    start: Tensor = radius / 2 * gap / gap.norm(dim=1, keepdim=True)
    return start


def train(
    loss: Objective,
    features: Tensor,
    n_positives: int,
    *,
    radius: float,
    steps: int,
    learning_rate: float,
) -> Tensor:
    """Minimize the training risk in the ball ‖w‖ ≤ radius; return the weights, (models, features).

    Adam over the whole sample, with a rate that falls to 0.
    """
    weights = start_of(features, n_positives, radius).requires_grad_()
    optimizer = torch.optim.Adam([weights], lr=learning_rate)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = learning_rate * (1 - step / steps)
        optimizer.zero_grad()
        values = risks(loss, scores_of(weights, features).flatten(0, 1), n_positives)
        # A sum over the models: each has the gradient of its own training risk.
        values.view(len(weights), -1).mean(1).sum().backward()
        optimizer.step()
        project(weights, radius)
    return weights.detach()


@torch.no_grad()
def project(weights: Tensor, radius: float) -> None:
    """Scale weights outside the ball back to it."""
    weights *= (radius / weights.norm(dim=-1, keepdim=True)).clamp(max=1)


@torch.no_grad()
def mean_risks(loss_of: LossOf, scores: Tensor) -> Tensor:
    """Return the mean risk of every model over its lists, from scores (models, lists, items)."""
    models, lists, items = scores.shape
    chunk = max(1, _ITEMS // items)
    rows = scores.flatten(0, 1)
    values = [loss_of(part) for part in rows.split(chunk)]
    return torch.cat(values).view(models, lists).double().mean(1)


def others_mean(weights: Tensor) -> Tensor:
    """Return for every model the mean of the others, which its own sample did not touch."""
    return (weights.sum(0) - weights) / (len(weights) - 1)
