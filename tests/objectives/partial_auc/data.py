"""Data sets for the memories of the partial AUC family, and mini-batches of them."""

from __future__ import annotations

import torch

POSITIVES, NEGATIVES = 6, 1000


def fixed_scores():
    """A few positives among many negatives, whose scores never change."""
    torch.manual_seed(0)
    positives = torch.randn(POSITIVES, dtype=torch.float64) + 1
    return torch.cat([positives, torch.randn(NEGATIVES, dtype=torch.float64)])


def passes(objective, scores, epochs, size):
    """Mean values of the objective over each pass: all the positives with ``size`` negatives."""
    rng = torch.Generator().manual_seed(0)
    means = []
    for _ in range(epochs):
        order = POSITIVES + torch.randperm(NEGATIVES, generator=rng)
        values = []
        for chosen in order.split(size):
            items = torch.cat([torch.arange(POSITIVES), chosen])
            beside = {} if objective.memory_by is None else {"item_ids": items}
            batch = scores[items].requires_grad_()
            values.append(objective(batch, items < POSITIVES, **beside).item())
        means.append(sum(values) / len(values))
    return means


def biases(make, scores, epochs=6, size=20):
    """Error of the value against all the data: of batches alone, and late with a memory."""
    everything = make(num_items=None)(scores, torch.arange(len(scores)) < POSITIVES).item()
    batch = passes(make(num_items=None), scores, 2, size)
    memory = passes(make(num_items=len(scores)), scores, epochs, size)[epochs // 2 :]
    return tuple(sum(means) / len(means) - everything for means in (batch, memory))
