"""First ranks in a large catalog, from tiles of scores that are dropped while in the cache."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from rankwise.tasks.recommendation._passes import passes

ROWS = 512  # users at a time
TILE = 2048  # items at a time
_CHUNK = 64  # items of which the highest score is kept
_GROUPS = 4  # groups for each rank, of which a bound of the ranks is made
_AGAIN = {n << k for n in (2, 3) for k in range(40)} | {1}  # tiles after which there is a new bound
_MOST = 1 << 22  # candidates for the first ranks of these users
_SMALLEST = 2.0**-100  # below it differences of scores may be denormal


class Cells(NamedTuple):
    """Some cells of the scores of some users for the whole catalog."""

    rows: Tensor
    columns: Tensor  # numbers of items

    def by_tile(self, widths: list[int]) -> Iterator[tuple[Tensor, Tensor]]:
        """For every tile: which of these cells it has, and their place in its flat rectangle."""
        tile = self.columns // TILE
        order = tile.argsort(stable=True)
        tile = tile[order]
        # Once for all tiles: many short calls would cost more than the cells.
        places = self.rows[order] * torch.tensor(widths)[tile] + self.columns[order] - tile * TILE
        ends = torch.bincount(tile, minlength=len(widths)).cumsum(0).tolist()
        for start, end in zip([0, *ends], ends, strict=False):
            yield order[start:end], places[start:end]


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
    looked into. With ``best``, a score of each user, all scores are compared to it, which is right
    where it is :func:`comparable`. The catalog has more than one tile, and there are fewer ranks
    than items in a tile.

    Raises:
        ValueError: If scores are NaN.
    """
    tiles = items.split(TILE)
    widths = [-(-len(some) // _CHUNK) * _CHUNK for some in tiles]
    n_users = len(users)
    scratch = users.new_empty(n_users * TILE)
    highest = users.new_full((n_users, -(-len(items) // _CHUNK)), -math.inf)
    probes = Cells(*hidden[0].new_empty(2, 0)) if probes is None else probes
    probed: list[tuple[Tensor, Tensor]] = []
    seen = passes()(n_users, users.dtype, best, TILE, _MOST)
    least = users.new_empty(0)
    cells = zip(hidden.by_tile(widths), probes.by_tile(widths), strict=True)
    for number, ((_, hide_at), (probe, probe_at)) in enumerate(cells):
        start, size = number * TILE, widths[number]
        some = tiles[number]
        scores = scratch[: n_users * size].view(n_users, size)
        if size > len(some):
            scores[:, len(some) :] = -math.inf
        torch.mm(users, some.T, out=scores[:, : len(some)])
        flat = scores.view(-1)
        flat.index_fill_(0, hide_at, -math.inf)
        probed.append((probe, flat.index_select(0, probe_at)))
        first, end = start // _CHUNK, (start + size) // _CHUNK
        if number == 0:
            least = _bound(scores, ranks)
        if not seen.read(scores, least, highest[:, first:end], start):
            return None
        if number in _AGAIN:
            least = torch.maximum(least, _bound(highest[:, :end], ranks))
    if seen.has_nan(highest):
        raise ValueError("scores contains NaN: the training has diverged")
    rows, found, values = seen.found()
    least = torch.maximum(least, _bound(highest, ranks))
    enough = values >= least[rows].squeeze(1)
    ranked = _sorted(rows[enough], found[enough], values[enough], n_users, ranks)
    order, own = (torch.cat(each) for each in zip(*probed, strict=True))
    own = torch.empty_like(own).index_copy_(0, order, own)
    return Found(*ranked, *seen.counts(), own)


def comparable(best: Tensor) -> Tensor:
    """For which scores :func:`search` counts what is above them, and as high."""
    return best.isfinite() & (best.abs() >= _SMALLEST)


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
    at = scores.shape[1] - ranks
    lowest = torch.from_numpy(np.partition(scores.numpy(), at, axis=1)[:, at : at + 1].copy())
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
