"""Where points fall among sorted knots: a table of cells, and a search where it is unsure."""

from __future__ import annotations

import math

import torch
from torch import Tensor

__all__ = ["slots"]

_MANY_POINTS = 1 << 18  # from here a table pays
_CELLS = 1 << 16
_FEW_KNOTS = _CELLS // 4  # beyond, too many cells have a knot inside


def slots(line: Tensor, points: Tensor, *, closed: bool) -> Tensor:
    """The number of knots below every point, (rows, n_points); ``closed``: or at it.

    A binary search among thousands of knots guesses wrong at every other branch. Millions of
    points among a few of them are looked up in equal cells instead: all points of a cell without
    a knot have the same answer.
    """
    few = len(line) == 1 and 0 < line.shape[-1] <= _FEW_KNOTS
    if not few or points.shape[-1] < _MANY_POINTS or not _has_width(line):
        return torch.searchsorted(line, points.contiguous(), right=closed)
    knots, flat = line[0], points[0].contiguous()
    # The cells at both ends have no knot: what is below or above all of them is sure.
    scale = (_CELLS - 3) / (knots[-1] - knots[0])
    cells = torch.arange(_CELLS, device=line.device)
    of_knots = _cells(knots, knots[0], scale)
    # Rounding keeps the order, so a knot in a lower cell is a lower knot.
    table = torch.searchsorted(of_knots.long(), cells)
    table[of_knots.long()] = -1
    found = table[_cells(flat, knots[0], scale)]
    unsure = (found < 0).nonzero().squeeze(1)
    found[unsure] = torch.searchsorted(knots, flat[unsure], right=closed)
    return found.unsqueeze(0)


def _has_width(line: Tensor) -> bool:
    """Whether the knots can be told apart by equal cells at all."""
    width = float(line[0, -1] - line[0, 0])
    return 0 < width < math.inf and math.isfinite((_CELLS - 3) / width)


def _cells(values: Tensor, low: Tensor, scale: Tensor) -> Tensor:
    return (values - low).mul_(scale).add_(1).clamp_(0, _CELLS - 1).to(torch.int32)
