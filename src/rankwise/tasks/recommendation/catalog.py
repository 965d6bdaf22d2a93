"""Every user against the whole catalog, a block of users at a time."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from rankwise.tasks.recommendation.problem import Pairs

BLOCK = 1 << 21  # scores in memory at a time: they stay in the cache until they are ranked


class Scorer(ABC):
    """The scores of every user for the whole catalog, made for some users at a time."""

    dtype = torch.float32

    @property
    @abstractmethod
    def n_items(self) -> int:
        """Items of the catalog."""

    @abstractmethod
    def write(self, users: Tensor, out: Tensor) -> None:
        """Write the scores of some users into ``out``, (len(users), n_items)."""

    def blocks(self, users: Tensor, seen: Pairs | None) -> Iterator[tuple[Tensor, Tensor]]:
        """Some users at a time with their scores, which the next block overwrites; seen: −∞."""
        size = max(1, BLOCK // max(1, self.n_items))
        buffer = torch.empty(min(size, len(users)), self.n_items, dtype=self.dtype)
        for some in users.split(size):
            scores = buffer[: len(some)]
            self.write(some, scores)
            if seen is not None:
                scores.view(-1).index_fill_(0, seen.cells(some), -math.inf)
            yield some, scores


@dataclass(frozen=True, eq=False)
class Scores(Scorer):
    """The score of user u for item i is the product of their vectors."""

    users: Callable[[Tensor], Tensor]  # numbers of some users to their vectors
    items: Tensor  # (items, dimension)

    @property
    def dtype(self) -> torch.dtype:  # type: ignore[override]  # of the base, an attribute
        return self.items.dtype

    @property
    def n_items(self) -> int:
        return len(self.items)

    def write(self, users: Tensor, out: Tensor) -> None:
        torch.mm(self.users(users), self.items.T, out=out)


class Top(NamedTuple):
    """The first ranks of some users, and what of the rest the metrics ask for; (users, …) each."""

    scores: Tensor  # (users, ranks), descending
    hits: Tensor  # (users, ranks) 1 where a positive stands
    positives: Tensor  # how many there are in the catalog
    negatives: Tensor
    above_best: Tensor  # items above the best positive
    tied_best: Tensor  # items as high as the best positive, itself included
    positives_tied_best: Tensor
    tied_last: Tensor  # items as high as the last of these ranks
    positives_tied_last: Tensor

    def rows(self, chosen: Tensor) -> Top:
        """Some of the users."""
        return Top(*(values[chosen] for values in self))

    @property
    def tied(self) -> Tensor:
        """Users for whom equal scores make a difference."""
        finite = self.scores[:, 1:] > -math.inf
        among = ((self.scores.diff(dim=1) == 0) & finite).any(1)
        last = (self.tied_last > 1) & (self.scores[:, -1] > -math.inf)
        return among | last | (self.tied_best > 1)

    def condensed(self) -> tuple[Tensor, Tensor, Tensor]:
        """Scores, targets and weights of a short list with the same first ranks as the whole.

        What is as high as the last rank but not among these stands there with its number as its
        weight; all that is below stands at −∞.
        """
        last = self.scores[:, -1:]
        same = self.scores == last
        there = self.scores > -math.inf
        ends = (last > -math.inf).squeeze(1)  # else these ranks are all there are
        more = torch.where(ends, self.tied_last - same.sum(1), 0)
        more_hits = torch.where(ends, self.positives_tied_last - (same * self.hits).sum(1), 0)
        below_hits = self.positives - self.hits.sum(1) - more_hits
        listed = there.sum(1) - self.hits.sum(1)
        below = self.negatives - listed - (more - more_hits)
        counts = torch.stack([more_hits, more - more_hits, below_hits, below], dim=1)
        far = torch.full_like(last, -math.inf)
        scores = torch.cat([self.scores, last, last, far, far], dim=1)
        kinds = torch.tensor([1.0, 0.0, 1.0, 0.0], dtype=torch.float64).expand(len(last), 4)
        target = torch.cat([self.hits, kinds], dim=1)
        weight = torch.cat([there.double(), counts.clamp_min(0)], dim=1)
        return scores, target, weight

    def around_best(self) -> tuple[Tensor, Tensor, Tensor]:
        """The same of a list whose best positive stands as it does in the whole."""
        first = self.positives_tied_best
        others = self.positives - first
        rest = self.negatives - self.above_best - (self.tied_best - first)
        weight = torch.stack([self.above_best, first, self.tied_best - first, others, rest], dim=1)
        scores = weight.new_tensor([2, 1, 1, 0, 0]).expand_as(weight)
        target = weight.new_tensor([0, 1, 0, 1, 0]).expand_as(weight)
        return scores, target, weight


@torch.no_grad()
def first_ranks(
    scores: Scorer, users: Tensor, wanted: Pairs, seen: Pairs | None, ranks: int
) -> Iterator[tuple[Tensor, Top]]:
    """Blocks of users with the first ranks of what they had not seen; each has a wanted item."""
    ranks = min(ranks, scores.n_items)
    compared = torch.empty(0)
    for some, found in scores.blocks(users, seen):
        compared.resize_(found.shape)
        places, there = wanted.padded(some)
        own = found.gather(1, wanted.items[places]).masked_fill(~there, -math.inf)
        values, where = found.topk(ranks, dim=1)
        if bool(values.isnan().any()):  # the highest of all, as topk sees it
            raise ValueError("scores contains NaN: the training has diverged")
        row = scores.n_items * torch.arange(len(some)).unsqueeze(1)
        hits = torch.isin(row + where, wanted.cells(some), assume_unique=True)
        best, last = own.amax(1, keepdim=True), values[:, -1:]
        # In floating point, which sums several times as fast as booleans do.
        above = torch.gt(found, best, out=compared).sum(1)
        tied_best = torch.eq(found, best, out=compared).sum(1)
        tied_last = torch.eq(found, last, out=compared).sum(1)
        positives = there.sum(1)
        hidden = 0 if seen is None else seen.counts[some]
        negatives = scores.n_items - hidden - positives
        at_best = above, tied_best, (own == best).sum(1)
        at_last = tied_last, ((own == last) & there).sum(1)
        columns = (values, hits, positives, negatives, *at_best, *at_last)
        yield some, Top(*(column.double() for column in columns))


@torch.no_grad()
def best_items(
    scores: Scorer, users: Tensor, seen: Pairs | None, k: int
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Blocks of users with the items of their first k ranks and the scores; −∞: no more items."""
    for some, found in scores.blocks(users, seen):
        values, items = found.topk(min(k, found.shape[1]), dim=1)
        yield some, items, values
