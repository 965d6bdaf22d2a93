"""First ranks in a large catalog, from tiles of scores that are dropped while in the cache."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

ROWS = 512  # users at a time
TILE = 2048  # items at a time
_CHUNK = 64  # items of which the highest score is kept
_GROUPS = 4  # groups for each rank, of which a bound of the ranks is made
_MOST = 1 << 22  # candidates for the first ranks of these users


class Cells(NamedTuple):
    """Some cells of the scores of some users for the whole catalog."""

    rows: Tensor
    columns: Tensor  # numbers of items

    def by_tile(self, tiles: int) -> Iterator[tuple[Tensor, Tensor]]:
        """For every tile: which of these cells it has, and their place in its flat rectangle."""
        tile = self.columns // TILE
        order = tile.argsort(stable=True)
        ends = torch.bincount(tile, minlength=tiles).cumsum(0).tolist()
        for number, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
            which = order[start:end]
            yield which, self.columns[which] - number * TILE


class Found(NamedTuple):
    """The first ranks of some users, (users, ranks), and how many scores compare to others."""

    values: Tensor  # descending; −∞: there are no more items
    items: Tensor
    tied_last: Tensor  # items as high as the last of these ranks
    above: Tensor  # items above ``best``
    tied: Tensor  # items as high as ``best``
    probed: Tensor  # scores of ``probes``


@torch.no_grad()
def search(
    users: Tensor,
    items: Tensor,
    hidden: Cells,
    ranks: int,
    *,
    best: Tensor | None = None,
    probes: Cells | None = None,
) -> Found | None:
    """The first ranks of users @ items.T with some cells hidden; None: too many items are tied.

    Items are candidates where they are at least as high as the r-th highest of what has been seen
    so far, of which the highest scores of chunks give a bound: only chunks that reach it are
    looked into. With ``best``, a score of each user, all scores are compared to it. The catalog has
    more than one tile, and there are fewer ranks than items in a tile.

    Raises:
        ValueError: If scores are NaN.
    """
    tiles = -(-len(items) // TILE)
    scratch, other = users.new_empty(2, len(users) * TILE)
    highest = users.new_full((len(users), -(-len(items) // _CHUNK)), -math.inf)
    probes = Cells(*hidden[0].new_empty(2, 0)) if probes is None else probes
    probed = users.new_empty(len(probes.rows))
    above, tied = torch.zeros(2, len(users), dtype=torch.float64)
    kept: list[tuple[Tensor, Tensor, Tensor]] = []
    least, candidates = users.new_empty(0), 0
    cells = zip(hidden.by_tile(tiles), probes.by_tile(tiles), strict=True)
    for number, ((hide, hide_at), (probe, probe_at)) in enumerate(cells):
        start = number * TILE
        some = items[start : start + TILE]
        chunks = -(-len(some) // _CHUNK)
        size = chunks * _CHUNK
        scores = scratch[: len(users) * size].view(len(users), size)
        scores[:, len(some) :] = -math.inf
        torch.mm(users, some.T, out=scores[:, : len(some)])
        flat = scores.view(-1)
        flat.index_fill_(0, hidden.rows[hide] * size + hide_at, -math.inf)
        probed[probe] = flat[probes.rows[probe] * size + probe_at]
        by_chunk = scores.view(len(users), chunks, _CHUNK)
        first = start // _CHUNK
        top = torch.amax(by_chunk, -1, out=highest[:, first : first + chunks])
        if number == 0:
            least = _bound(scores, ranks)
        elif number & (number - 1) == 0:  # a better bound each time twice as much has been seen
            least = torch.maximum(least, _bound(highest[:, : first + chunks], ranks))
        row, chunk = (top >= least).nonzero(as_tuple=True)
        values = by_chunk[row, chunk]
        which, place = (values >= least[row]).nonzero(as_tuple=True)
        kept.append((row[which], start + chunk[which] * _CHUNK + place, values[which, place]))
        candidates += len(which)
        if candidates > _MOST:
            return None
        if best is not None:
            compared = other[: flat.numel()].view_as(scores)
            # In floating point, which sums several times as fast as booleans do.
            tied += torch.eq(scores, best, out=compared).sum(1)
            above += scores.gt_(best).sum(1)
    if bool(highest.isnan().any()):
        raise ValueError("scores contains NaN: the training has diverged")
    row, item, value = map(torch.cat, zip(*kept, strict=True))
    least = torch.maximum(least, _bound(highest, ranks))
    enough = value >= least[row].squeeze(1)
    ranked = _sorted(row[enough], item[enough], value[enough], len(users), ranks)
    return Found(*ranked, above, tied, probed)


def _bound(scores: Tensor, ranks: int) -> Tensor:
    """At most the r-th highest of each row: the r-th highest of the highest of some groups.

    It is finite: what is hidden is below it.
    """
    each = scores.shape[1] // (_GROUPS * ranks)
    if each > 1:
        groups = scores.shape[1] // each
        scores = scores[:, : each * groups].unflatten(1, (each, groups)).amax(1)
    if scores.shape[1] < ranks:
        return scores.new_full((len(scores), 1), torch.finfo(scores.dtype).min)
    lowest = scores.topk(ranks, dim=1).values[:, -1:]
    return lowest.clamp_min(torch.finfo(scores.dtype).min)


def _sorted(
    row: Tensor, item: Tensor, value: Tensor, n_users: int, ranks: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Values and items of the first ranks of each row, and how many are as high as the last."""
    order = value.argsort(descending=True, stable=True)  # of equal ones the first item is first
    order = order[row[order].argsort(stable=True)]
    counts = torch.bincount(row, minlength=n_users)
    row, item, value = row[order], item[order], value[order]
    rank = torch.arange(len(row)) - (counts.cumsum(0) - counts)[row]
    first = rank < ranks
    values = value.new_full((n_users, ranks), -math.inf)
    values[row[first], rank[first]] = value[first]
    items = item.new_zeros((n_users, ranks))
    items[row[first], rank[first]] = item[first]
    tied_last = torch.bincount(row[value == values[row, -1]], minlength=n_users)
    return values, items, tied_last
