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
from rankwise.tasks.recommendation.tiles import ROWS, TILE, Cells, Found, comparable, search

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

    def in_tiles(self, ranks: int) -> bool:
        """Whether the catalog is large enough for its first ranks to be found by tiles."""
        exact = self.dtype in (torch.float32, torch.float64)
        return exact and self.n_items > TILE and ranks <= TILE // 2


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
    scores: Scorer,
    users: Tensor,
    wanted: Pairs,
    seen: Pairs | None,
    ranks: int,
    *,
    whole: bool = True,
) -> Iterator[tuple[Tensor, Top, Tensor]]:
    """Blocks of users with the first ranks of what they had not seen, and the items there.

    Each user has a wanted item. Without ``whole`` the rank of the best of them is not counted where
    it is below these ranks.
    """
    ranks = min(ranks, scores.n_items)
    if not (isinstance(scores, Scores) and scores.in_tiles(ranks)):
        yield from _ranks_of_rows(scores, users, wanted, seen, ranks, whole=whole)
        return
    for some in users.split(ROWS):
        left = some
        ranked = _ranks_of_tiles(scores, some, wanted, seen, ranks, whole=whole)
        if ranked is not None:
            top, items, right = ranked
            left = some[~right]
            yield some[right], top.rows(right), items[right]
        if len(left):
            yield from _ranks_of_rows(scores, left, wanted, seen, ranks, whole=whole)


def _ranks_of_rows(
    scores: Scorer, users: Tensor, wanted: Pairs, seen: Pairs | None, ranks: int, *, whole: bool
) -> Iterator[tuple[Tensor, Top, Tensor]]:
    """The same from all scores of some users at a time."""
    compared = torch.empty(0, dtype=scores.dtype)
    for some, found in scores.blocks(users, seen):
        compared.resize_(found.shape)
        places, there = wanted.padded(some)
        own = found.gather(1, wanted.items[places]).masked_fill(~there, -math.inf)
        values, where = found.topk(ranks, dim=1)
        if bool(values.isnan().any()):  # the highest of all, as topk sees it
            raise ValueError("scores contains NaN: the training has diverged")
        best, last = own.amax(1, keepdim=True), values[:, -1:]
        # In floating point, which sums several times as fast as booleans do.
        tied_last = torch.eq(found, last, out=compared).sum(1)
        above = tied = torch.ones(len(some))
        if whole:
            above = torch.gt(found, best, out=compared).sum(1)
            tied = torch.eq(found, best, out=compared).sum(1)
        ranked = Found(values, where, tied_last, above, tied, own[there])
        yield some, _top(ranked, some, wanted, seen, scores.n_items, own, there), where


def _ranks_of_tiles(
    scores: Scores, some: Tensor, wanted: Pairs, seen: Pairs | None, ranks: int, *, whole: bool
) -> tuple[Top, Tensor, Tensor] | None:
    """The same by tiles, and for whom it is right; None: too many scores are tied.

    All scores are compared to that of a user's best wanted item, which must be known before: it is
    right where the tile of the item has the same bits, and no other wanted item is above it.
    """
    vectors = scores.users(some)
    cells = Cells(*wanted.of_users(some))
    cells = Cells(cells.rows, wanted.items[cells.columns])
    best = None
    if whole:
        near = (vectors[cells.rows] * scores.items[cells.columns]).sum(1)
        highest = near.new_full((len(some),), -math.inf)
        highest.scatter_reduce_(0, cells.rows, near, "amax")
        chosen = near == highest[cells.rows]
        item = torch.zeros_like(some).scatter_(0, cells.rows[chosen], cells.columns[chosen])
        best = (vectors @ scores.items[item].T).diagonal().unsqueeze(1)
    hidden = _hidden(some, seen)
    found = search(vectors, scores.items, hidden, ranks, best=best, probes=cells)
    if found is None:
        return None
    places, there = wanted.padded(some)
    own = vectors.new_full(places.shape, -math.inf).masked_scatter_(there, found.probed)
    right = torch.ones(len(some), dtype=torch.bool)
    if best is not None:
        right = (own.amax(1) == best.squeeze(1)) & comparable(best.squeeze(1))
    top = _top(found, some, wanted, seen, scores.n_items, own, there)
    return top, found.items, right


def _hidden(some: Tensor, seen: Pairs | None) -> Cells:
    if seen is None:
        return Cells(some[:0], some[:0])
    rows, places = seen.of_users(some)
    return Cells(rows, seen.items[places])


def _top(  # noqa: PLR0917  (private, of its two callers)
    found: Found,
    some: Tensor,
    wanted: Pairs,
    seen: Pairs | None,
    n_items: int,
    own: Tensor,  # (users, wanted items), padded
    there: Tensor,
) -> Top:
    row = n_items * torch.arange(len(some)).unsqueeze(1)
    hits = torch.isin(row + found.items, wanted.cells(some)) & (found.values > -math.inf)
    best, last = own.amax(1, keepdim=True), found.values[:, -1:]
    positives = there.sum(1)
    hidden = 0 if seen is None else seen.counts[some]
    negatives = n_items - hidden - positives
    at_best = found.above, found.tied, (own == best).sum(1)
    at_last = found.tied_last, ((own == last) & there).sum(1)
    columns = (found.values, hits, positives, negatives, *at_best, *at_last)
    return Top(*(column.double() for column in columns))


@torch.no_grad()
def best_items(
    scores: Scorer, users: Tensor, seen: Pairs | None, k: int
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Blocks of users with the items of their first k ranks and the scores; −∞: no more items."""
    k = min(k, scores.n_items)
    tiled = isinstance(scores, Scores) and scores.in_tiles(k)
    for block in users.split(ROWS) if tiled else [users]:
        found = None
        if isinstance(scores, Scores) and tiled:
            found = search(scores.users(block), scores.items, _hidden(block, seen), k)
        if found is not None:
            yield block, found.items, found.values
            continue
        for some, each in scores.blocks(block, seen):
            values, items = each.topk(k, dim=1)
            yield some, items, values
