"""Sums of K(t, v) = e^{−v(2t − v)} over all v < t, from either side, in linear time after a sort.

This is e^{(t−v)²} over e^{t²}: what the squared hinge leaves of a log-sum-exp once the largest term
that may occur is taken out. It is at most e^{−v²}, so no lower beyond a certain reach counts.

The line of t is cut into cells, each with a lower edge, a width h and a centre c; t = c + s.

    far    v below the edge    K = e^{v(v − 2c)} · e^{−2sv}             moments of v for every cell
    near   v in the cell       K = e^{−c(c + 2s)} · e^{r²} · e^{−2sr}   running moments of r = v − c

The last factors are Taylor series. Far, the k-th term is at most (h/c)^k times what it is a term
of, thanks to the factor before it; near, it is at most (h²/2)^k/k!. So cells grow with t, up to the
width 1 within reach and in proportion beyond.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["GrowingSquares", "growing_squares"]

_RATIO = 1.4  # of neighbouring edges: h = c/3
_WIDEST = 1.0  # cell within reach
_FAR, _NEAR = 20, 11  # terms of the series: what is left out is below 3e-11 and 2e-11
_AT_ONCE = 1 << 20  # numbers in one temporary
_NO_FURTHER = 1e12  # here lowers tie with the highest one or add nothing; powers would overflow


def _edges() -> tuple[list[float], float]:
    """The edges of all cells from 0 on, and the one that ends the reach: e^{−8.7²} is 1e-33."""
    edges = [0.0, 0.5, 1.0]
    while edges[-1] < 8.7:
        edges.append(edges[-1] + min(_WIDEST, edges[-1] * (_RATIO - 1)))
    reach = edges[-1]
    while edges[-1] <= _NO_FURTHER:
        edges.append(edges[-1] * _RATIO)
    return edges, reach


_EDGES, _REACH = _edges()


@dataclass(frozen=True)
class GrowingSquares:
    """t of the uppers and v of the lowers, a row for each list, with what sums need of them."""

    s: Tensor  # (rows, n⁺) t from the centre of its cell
    cell: Tensor  # (rows, n⁺) number of the cell, rows one after the other
    slot: Tensor  # (rows, n⁺) number of v below t, and where they begin in flat running sums
    start: Tensor  # (rows, n⁺) the same for the edge of the cell
    low: Tensor  # (cells, 1) edges of the cells in use
    centre: Tensor  # (cells, 1)
    v: Tensor  # (rows, n⁻), no more than the reach
    order: Tensor  # (rows, n⁻) which lower each of the ascending v is
    r: Tensor  # (rows, n⁻) each of the ascending v from the centre of its cell
    bell: Tensor  # (rows, n⁻) e^{r²} of them, 0 out of reach

    def at_upper(self, weight: Tensor) -> Tensor:
        """Σ_{v_j < t_i} weight_j · K(t_i, v_j), (columns, rows, n⁺), of (columns, rows, n⁻)."""
        columns, rows, _ = weight.shape
        moments = weight.new_zeros(columns, rows, len(self.centre), _FAR)
        for part in _parts(self.v, columns * len(self.centre) + _FAR):
            spread = self._decay(part) * weight[..., None, part]
            moments += spread @ _powers(self.v[:, part], _FAR)
        far = weight.new_empty(columns, *self.s.shape)
        for part in _parts(self.s, columns * _FAR):
            found = moments.flatten(1, 2)[:, self.cell[:, part]]
            far[..., part] = torch.linalg.vecdot(found, _series(self.s[:, part], 0, _FAR))
        near = torch.zeros_like(far)
        laid_out = self._ascending(weight) * self.bell
        for first, count in self._terms(columns):
            terms = laid_out.unsqueeze(-1) * _powers(self.r, count, first)
            running = torch.nn.functional.pad(terms.cumsum(2), (0, 0, 1, 0)).flatten(1, 2)
            inside = running[:, self.slot] - running[:, self.start]
            near += torch.linalg.vecdot(inside, _series(self.s, first, count))
        return far + near * self._own_factor

    def at_lower(self, weight: Tensor) -> Tensor:
        """Σ_{t_i > v_j} weight_i · K(t_i, v_j), (columns, rows, n⁻), of (columns, rows, n⁺)."""
        columns, rows, _ = weight.shape
        cells, n = len(self.centre), self.v.shape[-1]
        moments = weight.new_zeros(columns, rows * cells, _FAR)
        for part in _parts(self.s, columns * _FAR):
            terms = weight[..., part, None] * _series(self.s[:, part], 0, _FAR)
            moments.index_add_(1, self.cell[:, part].flatten(), terms.flatten(1, 2))
        moments = moments.view(columns, rows, cells, _FAR)
        far = weight.new_empty(columns, *self.v.shape)
        for part in _parts(self.v, columns * cells + _FAR):
            found = moments @ _powers(self.v[:, part], _FAR).mT
            far[..., part] = (found * self._decay(part)).sum(2)
        near = torch.zeros_like(far)
        own = weight * self._own_factor
        for first, count in self._terms(columns):
            terms = (own.unsqueeze(-1) * _series(self.s, first, count)).flatten(1, 2)
            ends = terms.new_zeros(columns, rows * (n + 1), count)
            ends.index_add_(1, self.slot.flatten(), terms)
            ends.index_add_(1, self.start.flatten(), terms, alpha=-1)
            running = _backwards(ends.view(columns, rows, n + 1, count)[:, :, 1:], 2)
            near += torch.linalg.vecdot(running, _powers(self.r, count, first))
        return far.scatter_add_(-1, self.order.expand_as(near), near * self.bell)

    def rest_at_upper(self, weight: Tensor) -> Tensor:
        """Σ_{v_j ≥ t_i} weight_j for every upper, (rows, n⁺)."""
        beyond = _backwards(self._ascending(weight), -1)
        return torch.nn.functional.pad(beyond, (0, 1)).flatten()[self.slot]

    def rest_at_lower(self, weight: Tensor) -> Tensor:
        """Σ_{t_i ≤ v_j} weight_i for every lower, (rows, n⁻)."""
        ends = weight.new_zeros(len(self.v) * (self.v.shape[-1] + 1))
        ends.index_add_(0, self.slot.flatten(), weight.flatten())
        found = ends.view(len(self.v), -1)[:, :-1].cumsum(-1)
        return torch.empty_like(found).scatter_(-1, self.order, found)

    def _ascending(self, weight: Tensor) -> Tensor:
        return weight.gather(-1, self.order.expand_as(weight))

    @property
    def _own_factor(self) -> Tensor:
        """e^{−c(c + 2s)} of every upper."""
        centre = self.centre.flatten()[self.cell % len(self.centre)]
        return torch.exp(-centre * (centre + 2 * self.s))

    def _decay(self, part: slice) -> Tensor:
        """e^{v(v − 2c)} of some lowers for every cell they are far from, (rows, cells, lowers)."""
        v = self.v[:, None, part]
        is_far = (v < self.low) & (v < _REACH)
        return torch.exp(v * (v - 2 * self.centre)) * is_far

    def _terms(self, columns: int) -> Iterator[tuple[int, int]]:
        """The terms of the near series, as many at once as memory allows."""
        numbers = columns * max(self.s.numel(), self.v.numel())
        count = min(_NEAR, max(1, _AT_ONCE // numbers))
        for first in range(0, _NEAR, count):
            yield first, min(count, _NEAR - first)


def growing_squares(t: Tensor, v: Tensor) -> GrowingSquares:
    """The plan for ``t`` (rows, n⁺) and ``v`` (rows, n⁻), neither below 0 nor empty."""
    edges = t.new_tensor(_EDGES)
    low, centre = edges[:-1], (edges[:-1] + edges[1:]) / 2
    t = t.clamp(max=_NO_FURTHER)
    all_cells = _cell_of(edges, t)
    used, cell = torch.unique(all_cells, return_inverse=True)
    ascending, order = v.sort(-1)
    row = torch.arange(len(t), device=t.device).unsqueeze(-1)
    at = row * (v.shape[-1] + 1)
    r = ascending - centre[_cell_of(edges, ascending.clamp(max=_NO_FURTHER))]
    r = r.masked_fill(ascending >= _REACH, 0)
    return GrowingSquares(
        s=t - centre[all_cells],
        cell=cell + row * len(used),
        slot=torch.searchsorted(ascending, t) + at,
        start=torch.searchsorted(ascending, low[all_cells]) + at,
        low=low[used].unsqueeze(-1),
        centre=centre[used].unsqueeze(-1),
        v=v.clamp(max=_REACH),
        order=order,
        r=r,
        bell=torch.exp(r * r) * (ascending < _REACH),
    )


def _cell_of(edges: Tensor, x: Tensor) -> Tensor:
    return torch.bucketize(x, edges, right=True) - 1


def _backwards(x: Tensor, dim: int) -> Tensor:
    """Running sums from the end."""
    return x.flip(dim).cumsum(dim).flip(dim)


def _powers(x: Tensor, count: int, first: int = 0) -> Tensor:
    """x^first, x^{first+1}, … in a new last dimension."""
    factors = x.unsqueeze(-1).expand(*x.shape, count).clone()
    factors[..., 0] = x**first
    return factors.cumprod(-1)


def _series(s: Tensor, first: int, count: int) -> Tensor:
    """(−2s)^k/k! for some k in a new last dimension: what v^k is multiplied by in e^{−2sv}."""
    factorials = [1 / math.factorial(k) for k in range(first, first + count)]
    return _powers(-2 * s, count, first) * s.new_tensor(factorials)


def _parts(x: Tensor, numbers: int) -> Iterator[slice]:
    """The last dimension in slices with so many ``numbers`` for each element."""
    at_once = max(1, _AT_ONCE // (numbers * max(1, len(x))))
    for start in range(0, x.shape[-1], at_once):
        yield slice(start, start + at_once)
