"""log Σ_j weight_j · e^{(t_i − v_j)₊²} for every i, as one differentiable operation.

It uses sums of K(t, v) = e^{−v(2t − v)} over all v < t, from either side, in linear
time after a sort.

This is e^{(t−v)²} over e^{t²}: what the squared hinge leaves of a log-sum-exp once the largest term
that may occur is taken out. It is at most e^{−v²}, so no lower beyond a certain reach counts.

The line of t is cut into cells, each with a lower edge, a width h and a center c; t = c + s.

    far    v below the edge    K = e^{v(v − 2c)} · e^{−2sv}             moments of v for every cell
    near   v in the cell       K = e^{−c(c + 2s)} · e^{r²} · e^{−2sr}   running moments of r = v − c

The last factors are Taylor series. Far, the k-th term is at most (h/c)^k times what it is a term
of, thanks to the factor before it; near, it is at most (h²/2)^k/k!. So cells grow with t, up to a
largest width within reach and in proportion beyond.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from rankwise.eager import Context, Function, differentiable_backward
from rankwise.pairs._dense import dense_gradients, log_sum_exp_over_lower

_RATIO = 1.25  # of neighboring edges: h = .22 c
_WIDEST = 0.75  # cell within reach
_FAR, _NEAR = 15, 9  # terms of the series: what is left out is below 3e-11 and 2e-11
_BLOCK_NUMBERS = 1 << 18  # numbers in one temporary
FURTHEST = 1e12
"""Any t beyond is taken for this one: lowers tie with the highest there or add nothing."""


def _edges() -> tuple[list[float], float]:
    """The edges of all cells from 0 on, and the one that ends the reach: e^{−8.7²} is 1e-33."""
    edges = [0.0, 0.5, 1.0]
    while edges[-1] < 8.7:
        edges.append(edges[-1] + min(_WIDEST, edges[-1] * (_RATIO - 1)))
    reach = edges[-1]
    while edges[-1] <= FURTHEST:
        edges.append(edges[-1] * _RATIO)
    return edges, reach


_EDGES, _REACH = _edges()


class GrowingSquares:
    """``t`` (rows, n⁺) and ``v`` (rows, n⁻), neither below 0 nor empty, with what sums need."""

    def __init__(self, t: Tensor, v: Tensor) -> None:
        edges = t.new_tensor(_EDGES)
        lows, centers = edges[:-1], (edges[:-1] + edges[1:]) / 2
        t = t.clamp(max=FURTHEST)
        cell = torch.bucketize(t, lows, right=True).sub_(1)
        held = torch.zeros_like(lows, dtype=torch.bool).index_fill_(0, cell.flatten(), value=True)
        used = held.nonzero().squeeze(1)
        line, self.order = v.sort(-1)  # (rows, n⁻) which lower each of the ascending v is
        row = torch.arange(len(t), device=t.device).unsqueeze(-1)
        place, low, center = row * (v.shape[-1] + 1), lows[used], centers.take(cell)
        self.low = low.unsqueeze(-1)  # (cells, 1) edges of the cells that hold an upper
        self.center = centers[used].unsqueeze(-1)  # (cells, 1)
        # (rows, n⁺) number of the cell, row after row
        self.cell = held.cumsum(0).sub_(1).take(cell) + row * len(used)
        self.s = t - center  # (rows, n⁺) t from the center of its cell
        self.own = torch.exp(-center * (center + 2 * self.s))  # (rows, n⁺) e^{−c(c + 2s)}
        # (rows, n⁺) number of v below t, as a place in running sums, row after row
        self.slot = torch.searchsorted(line, t) + place
        # (rows, cells) number of v below the edge of the cell, likewise
        self.start = torch.searchsorted(line, low.repeat(len(t), 1)) + place
        self.v = line.clamp(max=_REACH)  # (rows, n⁻) ascending, no more than the reach
        # (rows, n⁻) v from the center of its cell
        self.r = self.v - centers.take(torch.bucketize(self.v, lows, right=True).sub_(1))
        # (rows, n⁻) e^{r²}, 0 out of reach
        self.bell = torch.exp(self.r * self.r).masked_fill_(line >= _REACH, 0)

    def at_upper(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Σ_{v_j < t_i} weight_j · K(t_i, v_j) for every upper, and the same with weight_j · v_j.

        A moment of weight · v is the next one of the weight, so that one more serves both.
        """
        weight = weight.gather(-1, self.order)
        far = weight.new_zeros(len(weight), len(self.center), _FAR + 1)
        for part in _parts(self.v, len(self.center) + _FAR):
            spread = self._decay(part).mul_(weight[:, None, part])
            far.baddbmm_(spread, _powers(self.v[:, part], _FAR + 1))
        terms = _powers(self.r, _NEAR + 1).mul_((weight * self.bell).unsqueeze(-1))
        running = torch.nn.functional.pad(terms.cumsum_(1), (0, 0, 1, 0)).flatten(0, 1)
        before, far = running[self.start].flatten(0, 1), far.flatten(0, 1)
        total, moment = torch.empty_like(self.s), torch.empty_like(self.s)
        for part in _parts(self.s, _FAR):
            cell, own = self.cell[:, part], self.own[:, part]
            factors = _series(self.s[:, part], _FAR)
            there, here = far[cell], running[self.slot[:, part]].sub_(before[cell])
            dot = torch.linalg.vecdot
            near = dot(here[..., :-1], factors[..., :_NEAR])
            total[:, part] = dot(there[..., :-1], factors).addcmul_(own, near)
            near.mul_(self.center.take(cell % len(self.center)))  # v = c + r
            near += dot(here[..., 1:], factors[..., :_NEAR])
            moment[:, part] = dot(there[..., 1:], factors).addcmul_(own, near)
        return total, moment

    def at_lower(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Σ_{t_i > v_j} weight_i · K(t_i, v_j) for every lower, and the same with weight_i · t_i.

        Again a moment of weight · s is the next one of the weight, times −(k + 1)/2.
        """
        (rows, n), cells = self.v.shape, len(self.center)
        far = weight.new_zeros(rows * cells, _FAR + 1)
        before = weight.new_zeros(rows * cells, _NEAR + 1)
        ends = weight.new_zeros(rows * (n + 1), _NEAR + 1)
        for part in _parts(self.s, _FAR):
            cell = self.cell[:, part].flatten()
            terms = _series(self.s[:, part], _FAR + 1).mul_(weight[:, part, None]).flatten(0, 1)
            far.index_add_(0, cell, terms)
            terms = terms[:, : _NEAR + 1] * self.own[:, part].reshape(-1, 1)
            before.index_add_(0, cell, terms)
            ends.index_add_(0, self.slot[:, part].flatten(), terms)
        ends.index_add_(0, self.start.flatten(), before, alpha=-1)
        running = ends.view(rows, n + 1, -1)[:, 1:].flip(1).cumsum_(1).flip(1)
        near, powers = self.v.new_empty(rows, 2, n), _powers(self.r, _NEAR)
        near[:, 0] = torch.linalg.vecdot(running[..., :-1], powers)
        near[:, 1] = torch.linalg.vecdot(_times_s(running), powers)
        near[:, 1].addcmul_(self.v - self.r, near[:, 0])  # t = c + s
        far = far.view(rows, cells, -1)
        moments = torch.stack([far[..., :-1], _times_s(far)], 1)
        moments[:, 1].addcmul_(self.center, moments[:, 0])
        found = near.mul_(self.bell.unsqueeze(1))
        for part in _parts(self.v, 3 * cells + _FAR):
            sums = moments.flatten(1, 2) @ _powers(self.v[:, part], _FAR).mT
            sums = sums.view(rows, 2, cells, -1).mul_(self._decay(part).unsqueeze(1))
            found[..., part] += sums.sum(2)
        order = self.order.unsqueeze(1).expand_as(found)
        total, moment = torch.empty_like(found).scatter_(-1, order, found).unbind(1)
        return total, moment

    def rest_at_upper(self, weight: Tensor) -> Tensor:
        """Σ_{v_j ≥ t_i} weight_j for every upper."""
        beyond = weight.gather(-1, self.order).flip(-1).cumsum(-1).flip(-1)
        return torch.nn.functional.pad(beyond, (0, 1)).take(self.slot)

    def rest_at_lower(self, weight: Tensor) -> Tensor:
        """Σ_{t_i ≤ v_j} weight_i for every lower."""
        ends = weight.new_zeros(len(self.v) * (self.v.shape[-1] + 1))
        ends.index_add_(0, self.slot.flatten(), weight.flatten())
        found = ends.view(len(self.v), -1)[:, :-1].cumsum(-1)
        return torch.empty_like(found).scatter_(-1, self.order, found)

    def _decay(self, part: slice) -> Tensor:
        """e^{v(v − 2c)} of some lowers for every cell they are far from, (rows, cells, lowers)."""
        v = self.v[:, None, part]
        decay = (v - 2 * self.center).mul_(v).exp_()
        return decay.masked_fill_(v >= self.low.clamp(max=_REACH), 0)


def _powers(x: Tensor, count: int) -> Tensor:
    """1, x, x², … in a new last dimension."""
    powers = x.new_ones(*x.shape, count)
    powers[..., 1:] = x.unsqueeze(-1)
    return powers.cumprod_(-1)


def _series(s: Tensor, count: int) -> Tensor:
    """(−2s)^k/k! in a new last dimension: what v^k is multiplied by in e^{−2sv}."""
    series = s.new_ones(*s.shape, count)
    series[..., 1:] = s.unsqueeze(-1)
    series[..., 1:] *= s.new_tensor([-2 / k for k in range(1, count)])
    return series.cumprod_(-1)


def _times_s(moments: Tensor) -> Tensor:
    """Moments of weight · s, one less than those of the weight."""
    factors = [-k / 2 for k in range(1, moments.shape[-1])]
    return moments[..., 1:] * moments.new_tensor(factors)


def _parts(x: Tensor, numbers: int) -> Iterator[slice]:
    """The last dimension in slices for ``numbers`` temporaries per element."""
    block = max(1, _BLOCK_NUMBERS // (numbers * len(x)))
    for start in range(0, x.shape[-1], block):
        yield slice(start, start + block)


_ITEMS = 1 << 16  # of both sides, in one block of lists


def log_sum_exp_of_one_sided_squares(t: Tensor, v: Tensor, weight: Tensor) -> Tensor:
    """For ``t`` (rows, n⁺) and ``v`` (rows, n⁻), not below 0; with Σ over v < t and the rest apart.

    In a list some v of a weight is to be 0: then e^{t²} is its largest term, or nothing is, and

        log(e^{t²}·S + R) = t² + log(S + e^{−t²}·R),   S = Σ weight·K (:class:`GrowingSquares`)

    can neither over- nor underflow. A list without any weight gives −inf.
    """
    return _LogSum.apply(t, v, weight)


def _square_of_positive(x: Tensor) -> Tensor:
    return torch.relu(x).square()


def _again(ctx: Context[list[GrowingSquares]], *gradients: Tensor) -> tuple[Tensor | None, ...]:
    """The gradients over all pairs, which have gradients themselves."""
    reduction, wanted = partial(log_sum_exp_over_lower, 1.0), ctx.needs_input_grad[:3]
    sides = ctx.saved_tensors[:3]
    return dense_gradients(_square_of_positive, reduction, sides, wanted, gradients[0])


class _LogSum(Function):
    @staticmethod
    def forward(ctx: Context[list[GrowingSquares]], t: Tensor, v: Tensor, weight: Tensor) -> Tensor:
        result, slope, scale = (torch.empty_like(t) for _ in range(3))
        plans = []
        for rows in _blocks(t, v):
            positive = t[rows].clamp_min(0)
            plan = GrowingSquares(positive, v[rows])
            total, moment = plan.at_upper(weight[rows])
            rest = plan.rest_at_upper(weight[rows]) * torch.exp(-(positive**2))
            whole = total + rest
            result[rows] = positive**2 + whole.log()
            scale[rows] = torch.where(whole > 0, 1 / whole, 0)
            slope[rows] = 2 * (positive * total - moment) * scale[rows]
            plans.append(plan)
        ctx.kept = plans
        ctx.save_for_backward(t, v, weight, slope, scale)
        return result

    @staticmethod
    @differentiable_backward(_again)
    def backward(
        ctx: Context[list[GrowingSquares]], *gradients: Tensor
    ) -> tuple[Tensor | None, ...]:
        (gradient,) = gradients
        t, v, weight, slope, scale = ctx.saved_tensors
        to_v = torch.empty_like(v)
        to_weight = torch.empty_like(v) if ctx.needs_input_grad[2] else None
        flow = torch.where(scale > 0, gradient, 0) * scale
        for rows, plan in zip(_blocks(t, v), ctx.kept, strict=True):
            total, moment = plan.at_lower(flow[rows])
            if bool((beyond := t[rows] - FURTHEST).max() > 0):
                moment = moment + plan.at_lower(flow[rows] * beyond.clamp_min(0))[0]
            to_v[rows] = -2 * weight[rows] * (moment - v[rows] * total)
            if to_weight is not None:
                rest = torch.exp(-(t[rows].clamp_min(0) ** 2))
                to_weight[rows] = total + plan.rest_at_lower(flow[rows] * rest)
        return torch.where(scale > 0, gradient, 0) * slope, to_v, to_weight


def _blocks(t: Tensor, v: Tensor) -> Iterator[slice]:
    block = max(1, _ITEMS // (t.shape[-1] + v.shape[-1]))
    for start in range(0, len(t), block):
        yield slice(start, start + block)
