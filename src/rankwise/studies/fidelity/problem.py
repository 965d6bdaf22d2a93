"""A small problem on which the metrics disagree about the best line."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["PRIOR", "make_problem"]

PRIOR, SEPARATION, ASIDE = 0.1, 3.0, 1.5
HARD_NEGATIVES, HARD_POSITIVES = 0.08, 0.3


def make_problem(items: int, seed: int) -> tuple[Tensor, Tensor]:
    """Features (items, 4), the last one constant, and 0/1 targets, a tenth of them positive.

    Along the first axis the classes are apart. On the second most negatives are on one side, the
    few that look like positives on the other; on the third most positives are on one side, the
    hard ones on the other. So whoever looks at all pairs, at the top negatives or at the bottom
    positives wants other signs of the second and the third weight, and no line suits all.
    """
    generator = torch.Generator().manual_seed(seed)
    n_positives = round(PRIOR * items)
    positives = torch.randn(n_positives, 3, generator=generator)
    negatives = torch.randn(items - n_positives, 3, generator=generator)
    hard = round(HARD_POSITIVES * n_positives)
    positives += torch.tensor([SEPARATION, 0, -ASIDE])
    positives[:hard] += torch.tensor([-SEPARATION / 2, 0, 2 * ASIDE])
    hard = round(HARD_NEGATIVES * len(negatives))
    negatives += torch.tensor([0, ASIDE, 0])
    negatives[:hard] += torch.tensor([SEPARATION, -2 * ASIDE, 0])
    features = torch.cat([positives, negatives])
    target = torch.arange(items) < n_positives
    return torch.cat([features, torch.ones(items, 1)], dim=1), target
