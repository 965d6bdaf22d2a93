"""Which items are recommended, apart from accuracy: coverage, Gini index, novelty."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rankwise.tasks.recommendation.catalog import Scorer, best_items
from rankwise.tasks.recommendation.problem import Pairs


class Exposure:
    """How often each item is among the first k ranks of users, some users at a time."""

    def __init__(self, scores: Scorer, seen: Pairs | None, train: Pairs, k: int) -> None:
        self.scores, self.seen, self.k = scores, seen, k
        n = scores.n_items
        taken = torch.bincount(train.items, minlength=n).clamp_min(1).double()
        self.bits = math.log2(max(1, len(train))) - taken.log2()
        self.counts, self.missed = torch.zeros(2, n, dtype=torch.float64)  # log of the chance
        self.novelty: list[Tensor] = []

    @property
    def ranks(self) -> int:
        """Ranks that have to be known: one more shows whether the last is tied."""
        return min(self.k + 1, self.scores.n_items)

    @torch.no_grad()
    def update(self, users: Tensor, items: Tensor, values: Tensor) -> None:
        """Add users with the items of their first ranks and the scores; −∞: no item."""
        k, n, ranks = self.k, self.scores.n_items, self.ranks
        items, values = items[:, :ranks], values[:, :ranks]
        there = values[:, :k] > -math.inf
        tied = there[:, -1] & (ranks > k) & (values[:, -1] == values[:, min(k, ranks) - 1])
        certain = items[:, :k][there & ~tied.unsqueeze(1)]
        self.counts += torch.bincount(certain, minlength=n)
        self.missed[certain] = -math.inf
        own = self.bits[items[:, :k]].where(there, 0).sum(1) / there.sum(1)
        self.novelty.append(own[there.any(1) & ~tied])
        if bool(tied.any()):
            for _, rows in self.scores.blocks(users[tied], self.seen):
                last = rows.topk(k, dim=1).values[:, -1:]
                above, same = rows > last, (rows == last).double()
                left = (k - above.sum(1, keepdim=True)) / same.sum(1, keepdim=True)
                chances = above + same * left
                self.counts += chances.sum(0)
                self.missed += torch.log1p(-chances).sum(0)
                self.novelty.append(chances @ self.bits / k)

    def metrics(self) -> dict[str, float]:
        """Coverage, Gini index and novelty (:func:`catalog_metrics`)."""
        n, counts = self.scores.n_items, self.counts
        order = 2 * torch.arange(1, n + 1) - n - 1
        return {
            f"coverage@{self.k}": float((1 - self.missed.exp()).mean()),
            f"gini@{self.k}": float((order * counts.sort().values).sum() / (n * counts.sum())),
            f"novelty@{self.k}": float(torch.cat([*self.novelty, self.bits[:0]]).mean()),
        }


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
    found = Exposure(scores, seen, train, k)
    for some, items, values in best_items(scores, users, seen, found.ranks):
        found.update(some, items, values)
    return found.metrics()
