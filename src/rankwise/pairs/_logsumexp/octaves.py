"""Points of (0, 1) in octaves [½, 1), [¼, ½), …, with Chebyshev polynomials in each of them.

A smooth kernel between two sets of points is then a small matrix between the nodes of their cells:
weights go from points to nodes (:meth:`Octaves.to_nodes`), through the matrix, and from nodes to
points (:meth:`Octaves.at_points`). A function without a singularity to the right of 0 loses a
factor of 3 + √8 of its error with every node, so that ``ORDER`` of them leave 6e-13.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property

import torch
from torch import Tensor

ORDER = 16  # nodes of a cell
_BLOCK_NUMBERS = 1 << 20  # numbers in one temporary
_DEEPEST = -1100  # no double is below this power of two

_COUNT = torch.arange(ORDER, dtype=torch.float64)
_ANGLES = (_COUNT + 0.5) * (math.pi / ORDER)
# How much of each T_k there is in the polynomial that is 1 at one node, (ORDER, nodes).
_SHARES = torch.cos(_COUNT.unsqueeze(-1) * _ANGLES) * torch.where(_COUNT > 0, 2, 1)[:, None] / ORDER


class Octaves:
    """Points (rows, n) of [0, 1) in two sets of cells, by whether they are ``first``.

    Of the first set the cells end at 2^depth: what is below is one cell, which reaches to 0.
    """

    def __init__(self, points: Tensor, first: Tensor, depth: int) -> None:
        fraction, power = torch.frexp(points)
        lowest = first & (points < 2.0**depth)
        # (rows, n) where the point is in its cell, from −1 to 1
        self.x = torch.where(lowest, points * 2.0 ** (1 - depth) - 1, 4 * fraction - 3)
        # Cells by number: the first set from 2^depth on up, then the second from 1 on down.
        number = torch.where(first, torch.where(lowest, 0, power - depth), 2 - depth - power).long()
        held = torch.zeros(2 - depth - _DEEPEST, dtype=torch.bool, device=points.device)
        held.index_fill_(0, number.flatten(), value=True)
        used = held.nonzero()
        # (rows, n) number of the point's cell, row after row
        self.cell = held.cumsum(0).sub_(1).take(number)
        self.cell += torch.arange(len(points), device=points.device).unsqueeze(-1) * len(used)
        middle = torch.cos(_ANGLES).to(points)
        in_first = used <= 1 - depth
        powers = torch.exp2(torch.where(in_first, used + depth, 2 - depth - used).to(points))
        nodes = torch.where(used == 0, 2 * (1 + middle), 3 + middle) * powers / 4
        self.nodes = nodes.flatten()  # (cells · ORDER,) in (0, 1)
        # (cells · ORDER,) whether the node is one of the first set of cells
        self.first = in_first.expand_as(nodes).flatten()

    def to_nodes(self, weight: Tensor) -> Tensor:
        """What nodes have to weigh for points of this ``weight`` (rows, n), (rows, nodes)."""
        rows, cells = len(self.x), len(self.nodes) // ORDER
        moments = weight.new_zeros(rows * cells, ORDER)
        for part, polynomials in self._parts():
            terms = polynomials * weight[:, part, None]
            moments.index_add_(0, self.cell[:, part].flatten(), terms.flatten(0, 1))
        return (moments @ _SHARES.to(weight)).view(rows, -1)

    def at_points(self, values: Tensor) -> Tensor:
        """The function with these ``values`` (rows, nodes) at every point, (rows, n)."""
        coefficients = values.reshape(-1, ORDER) @ _SHARES.to(values).mT
        found = torch.empty_like(self.x)
        for part, polynomials in self._parts():
            found[:, part] = torch.linalg.vecdot(coefficients[self.cell[:, part]], polynomials)
        return found

    def _parts(self) -> Iterator[tuple[slice, Tensor]]:
        """Points, with the polynomials there; of few points they are kept."""
        block = max(1, _BLOCK_NUMBERS // (ORDER * len(self.x)))
        if self.x.shape[-1] <= block:
            yield slice(None), self._polynomials
            return
        for start in range(0, self.x.shape[-1], block):
            part = slice(start, start + block)
            yield part, _polynomials(self.x[:, part])

    @cached_property
    def _polynomials(self) -> Tensor:
        return _polynomials(self.x)


def uses(upper: Octaves, lower: Octaves) -> float:
    """Entries of a matrix between the nodes of both; to be used once more costs little of one."""
    return len(upper.nodes) * len(lower.nodes) * (1 + len(upper.x) / 16)


def _polynomials(x: Tensor) -> Tensor:
    """T_0, T_1, … of every x in a new last dimension."""
    return torch.cos_(_COUNT.to(x) * torch.acos(x.clamp(-1, 1)).unsqueeze(-1))
