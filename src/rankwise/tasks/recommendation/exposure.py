"""Which items are recommended, beside how accurate that is: coverage, Gini index, novelty."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rankwise.tasks.recommendation.catalog import Scorer
from rankwise.tasks.recommendation.problem import Pairs


@torch.no_grad()
def catalog_metrics(
    scores: Scorer, users: Tensor, seen: Pairs | None, train: Pairs, k: int
) -> dict[str, float]:
    """Coverage, Gini index and novelty of the first k ranks of some users.

    With n items, c_1 ≤ … ≤ c_n how often each is recommended, and p(i) the share of item i in
    the training interactions (an item without any counts as if it had one):

    - ``coverage@k``: the share of the n items that are recommended to anybody;
    - ``gini@k``: Σ_j (2j − n − 1) c_j / (n Σ_j c_j), 0 where all are recommended equally often;
    - ``novelty@k``: the mean over users of the mean of −log₂ p(i) over their items.

    Where items tie for the last ranks, each order of them is equally likely: coverage and novelty
    are means over these orders, and c_j is the mean number.
    """
    n, ranks = scores.n_items, min(k + 1, scores.n_items)
    taken = torch.bincount(train.items, minlength=n).clamp_min(1).double()
    bits = math.log2(max(1, len(train))) - taken.log2()
    counts, missed = torch.zeros(2, n, dtype=torch.float64)  # missed: log of the chance of that
    novelty: list[Tensor] = []
    for _, found in scores.blocks(users, seen):
        values, items = found.topk(ranks, dim=1)
        there = values[:, :k] > -math.inf
        tied = there[:, -1] & (ranks > k) & (values[:, -1] == values[:, min(k, ranks) - 1])
        certain = items[:, :k][there & ~tied.unsqueeze(1)]
        counts += torch.bincount(certain, minlength=n)
        missed[certain] = -math.inf
        own = bits[items[:, :k]].where(there, 0).sum(1) / there.sum(1)
        if bool(tied.any()):
            rows, last = found[tied], values[tied, k - 1 : k]
            above, same = rows > last, (rows == last).double()
            chances = above + same * (k - above.sum(1, keepdim=True)) / same.sum(1, keepdim=True)
            counts += chances.sum(0)
            missed += torch.log1p(-chances).sum(0)
            own[tied] = chances @ bits / k
        novelty.append(own[there.any(1)])
    order = 2 * torch.arange(1, n + 1) - n - 1
    return {
        f"coverage@{k}": float((1 - missed.exp()).mean()),
        f"gini@{k}": float((order * counts.sort().values).sum() / (n * counts.sum())),
        f"novelty@{k}": float(torch.cat([*novelty, bits[:0]]).mean()),
    }
