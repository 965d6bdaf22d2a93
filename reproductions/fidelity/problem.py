"""Two small problems: one list on which the metrics disagree, and lists with a level of their own.

Features are (…, items, 4), the last one constant, targets 0/1.
"""

from __future__ import annotations

import torch
from torch import Tensor

PRIOR, SEPARATION, ASIDE = 0.1, 3.0, 1.5
HARD_NEGATIVES, HARD_POSITIVES = 0.08, 0.3

LISTS, SHARES, LEVEL = 10, (0.22, 0.45), 3.0


def make_problem(items: int, seed: int) -> tuple[Tensor, Tensor]:
    """One list, a tenth of it positive, that no line orders.

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


def make_lists(items: int, seed: int) -> tuple[Tensor, Tensor]:
    """Ten lists, each of which the first feature orders without an error, at a level of its own.

    The higher the level of a list, the fewer positives it has. The second feature tells the level,
    with noise, and nothing about the order within a list; the third tells nothing. Whoever takes
    the items of all lists for one needs the second to make sense of the first, and has its noise.
    """
    generator = torch.Generator().manual_seed(seed)
    size = items // LISTS
    n_positives = torch.linspace(*SHARES, LISTS).flip(0).mul(size).round()
    target = torch.arange(size) < n_positives.unsqueeze(1)
    level = torch.linspace(-LEVEL, LEVEL, LISTS).unsqueeze(1)
    signal = torch.rand(LISTS, size, generator=generator) + target  # 0 to 1, and 1 to 2
    noise = torch.randn(2, LISTS, size, generator=generator)
    parts = (signal + level, noise[0] - level, noise[1], torch.ones(LISTS, size))
    return torch.stack(parts, dim=-1), target
