"""The plan of a block of lists: sort the smaller side once, find where the other side falls.

Both sides are put on one line so that the difference of a pair is ``x − b = knot − point``: the
*knots*, as of a spline, are the smaller side, one for each of its elements and each break b of the
surrogate, sorted; the *points* are the larger side, unsorted, each with the number of knots below
it. Sums run both ways over that structure (:mod:`powers`, :mod:`exponentials`): from points to
knots, and back. Sorting only the smaller side is what makes a rare class cheap.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property

import torch
from torch import Tensor

from rankwise.pairs.forms import PairForm

_MANY_POINTS = 1 << 18  # from here a table pays
_MANY_KNOTS = 1 << 18  # from here a list's knots leave the cache, and the order of points matters
_CELLS = 1 << 16, 1 << 21  # of a table, at least and at most
_CELLS_OF_A_KNOT = 8  # with fewer, too many cells have a knot inside


def slots(line: Tensor, points: Tensor, *, closed: bool) -> Tensor:
    """The number of knots below every point, (rows, n_points); ``closed``: or at it.

    A binary search among thousands of knots guesses wrong at every other branch. Millions of
    points among a few of them are looked up in equal cells instead: all points of a cell without
    a knot have the same answer.
    """
    few = len(line) == 1 and 0 < line.shape[-1] < _MANY_KNOTS
    if not few or points.shape[-1] < _MANY_POINTS or not _has_width(line):
        return torch.searchsorted(line, points.contiguous(), right=closed)
    knots, flat = line[0], points[0].contiguous()
    n_cells = min(max(_CELLS[0], 1 << (_CELLS_OF_A_KNOT * len(knots)).bit_length()), _CELLS[1])
    # The cells at both ends have no knot: what is below or above all of them is sure.
    scale = (n_cells - 3) / (knots[-1] - knots[0])
    of_knots = _cells(knots, knots[0], scale, n_cells).long()
    # Rounding keeps the order, so a knot in a lower cell is a lower knot.
    held = torch.bincount(of_knots, minlength=n_cells)
    table = (held.cumsum(0) - held).masked_fill_(held > 0, -1).int()
    found = table.index_select(0, _cells(flat, knots[0], scale, n_cells)).long()
    unsure = (found < 0).nonzero().squeeze(1)
    found[unsure] = torch.searchsorted(knots, flat[unsure], right=closed)
    return found.unsqueeze(0)


def _has_width(line: Tensor) -> bool:
    """Return whether equal cells can separate the knots."""
    width = float(line[0, -1] - line[0, 0])
    return 0 < width < math.inf and math.isfinite(_CELLS[1] / width)


def _cells(values: Tensor, low: Tensor, scale: Tensor, n_cells: int) -> Tensor:
    return (values - low).mul_(scale).add_(1).clamp_(0, n_cells - 1).to(torch.int32)


_COARSE = 1 << 10  # cells of the rough order of a long list
_PIECE = 1 << 16  # points of one block: several passes over them stay in the cache


class Knots:
    """Sorted knots and the points between them, for every row of a block.

    Args:
        form: The form whose breaks make the knots.
        upper, lower: Scores of both sides, (rows, n⁺) and (rows, n⁻), both non-empty.
        may_arrange: Whether the points of a long list may be taken in another order.
    """

    def __init__(
        self, form: PairForm, upper: Tensor, lower: Tensor, *, may_arrange: bool = True
    ) -> None:
        self.knots_are_upper = upper.shape[-1] <= lower.shape[-1]
        self.breaks = len(form.breaks)  # knots an element of the smaller side has
        if self.knots_are_upper:
            unsorted = torch.cat([upper - b for b in form.breaks], dim=-1)
            points = lower
        else:
            unsorted = torch.cat([-(lower + b) for b in form.breaks], dim=-1)
            points = -upper
        # (rows, n_knots) ascending, and the element of the unsorted knots behind each of them
        self.line, self.order = torch.sort(unsorted, dim=-1)
        # (rows, n_points) which element each point is; None: as they came
        self.arrangement: Tensor | None = None
        if may_arrange and self.line.shape[-1] >= _MANY_KNOTS:
            self.arrangement = _rough_order(self.line, points)
            points = points.gather(-1, self.arrangement)
        self.points = points  # (rows, n_points)
        # (rows, n_points) number of knots below the point
        self.slot = slots(self.line, points, closed=form.closed)
        nearest = self.line.gather(-1, (self.slot - 1).clamp_(min=0))
        # (rows, n_points) point − the last knot below it. A point below every knot has slot 0: it
        # takes part in nothing, and neither may its distance.
        self.above = (points - nearest).clamp_min_(0)

    @cached_property
    def gaps(self) -> Tensor:
        """Distance of every knot from the one before it, 0 for the first."""
        return torch.diff(self.line, dim=-1, prepend=self.line[..., :1])

    def pieces(self) -> Iterator[slice]:
        """The points in slices small enough for the cache."""
        rows, n_points = self.points.shape
        block = max(1, _PIECE // max(1, rows))
        for start in range(0, n_points, block):
            yield slice(start, start + block)

    def below(self, piece: slice) -> Tensor:
        """The first knot at or above the point − point; 0 for points above all knots."""
        n_knots = self.line.shape[-1]
        upcoming = self.line.gather(-1, self.slot[..., piece].clamp(max=n_knots - 1))
        return upcoming.sub_(self.points[..., piece]).clamp_min_(0)

    def to_knots(self, values: Tensor, factors: list[float]) -> Tensor:
        """Per-element values laid out on the sorted knots, multiplied by their break's factor."""
        if self.breaks == 1:
            return values.gather(-1, self.order) * factors[0]
        spread = torch.cat([values * factor for factor in factors], dim=-1)
        return spread.gather(-1, self.order)

    def from_knots(self, values: Tensor) -> Tensor:
        """Values of the sorted knots back in the order of the elements: (rows, breaks, n)."""
        unsorted = torch.empty_like(values).scatter_(-1, self.order, values)
        return unsorted.reshape(*values.shape[:-1], self.breaks, -1)

    def to_points(self, values: Tensor) -> Tensor:
        """Values of the larger side in the order of the points."""
        return values if self.arrangement is None else values.gather(-1, self.arrangement)

    def from_points(self, values: Tensor) -> Tensor:
        """Values of the points back in the order of the larger side."""
        if self.arrangement is None:
            return values
        return torch.empty_like(values).scatter_(-1, self.arrangement, values)


def _rough_order(line: Tensor, points: Tensor) -> Tensor:
    """An order in which neighbors fall near the same knots.

    Millions of points that jump over all the knots miss the cache at every look-up. Small integers
    are sorted by radix, ten times as fast as scores, and a thousand cells are enough.
    """
    every = max(1, line.shape[-1] // _COARSE)
    cell = torch.searchsorted(line[..., ::every].contiguous(), points.contiguous())
    return torch.sort(cell.to(torch.int16), dim=-1).indices
