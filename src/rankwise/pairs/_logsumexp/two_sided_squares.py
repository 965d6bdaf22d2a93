"""log Σ_j weight_j · e^{(t_i − v_j)²} for every i, as one differentiable operation.

Of every list the v run from 0 to some R, and the largest term is at one of these ends. With
s = 2t − R and what a v has to either end, D = v and E = R − v,

    (t − v)² = t² − DE − Ds = (t − R)² − DE + Es,

so that e^{−DE} goes to the weights and what couples the sides is e^{−D|s|} where s ≥ 0, e^{−E|s|}
where s < 0: a small matrix between octaves (:mod:`.octaves`), of terms that are 1 at most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial

import torch
from torch import Tensor

from rankwise.eager import Context, Function, differentiable_backward
from rankwise.pairs._dense import dense_gradients, log_sum_exp_over_lower
from rankwise.pairs._logsumexp.octaves import Octaves, uses

_LARGEST = 1e150  # whose square is still a double


def log_sum_exp_of_two_sided_squares(
    t: Tensor, v: Tensor, weight: Tensor, *, at_most: float = math.inf
) -> Tensor | None:
    """For ``t`` (rows, n⁺) and ``v`` (rows, n⁻), not below 0.

    In a list some v of a weight is to be 0 and none without any beyond all others. None if the
    matrices would take more than ``at_most`` (``uses`` of the octaves). A list without any weight
    gives −inf.
    """
    plan = _Plan(t.detach(), v.detach())
    if sum(uses(plan.upper, end.lower) for end in plan.ends) > at_most:
        return None
    return _LogSum.apply(t, v, weight, plan)


@dataclass(frozen=True)
class _End:
    """The uppers whose largest term is at one end of the lowers, and what they have to do there."""

    chosen: Tensor  # (rows, n⁺)
    t: Tensor  # (rows, n⁺) seen from that end
    away: Tensor  # (rows, n⁻) how far a lower is from it
    sign: int  # of away in t − away at the one end, t + away at the other
    lower: Octaves


class _Plan:
    """Both sides in cells, for either end that is somebody's."""

    def __init__(self, t: Tensor, v: Tensor) -> None:
        reach = v.amax(-1, keepdim=True)
        rest = reach - v
        s = 2 * t - reach
        self.common = torch.exp(-v * rest)
        wide, steep = _power_above(v), _power_above(s.abs())
        self.depth = min(0, math.floor(math.log2(4 / wide / steep)))
        self.unit = wide * steep
        self.upper = self._octaves(s.abs() / steep)
        self.ends = [
            _End(chosen, t - start, away, sign, self._octaves(away / wide))
            for chosen, start, away, sign in ((s >= 0, 0, v, -1), (s < 0, reach, rest, 1))
            if bool(chosen.any())
        ]

    @cached_property
    def kernels(self) -> list[Tensor]:
        """(nodes of uppers, nodes of lowers) for each end."""
        s = self.upper.nodes * -self.unit
        return [torch.exp(s.unsqueeze(-1) * end.lower.nodes) for end in self.ends]

    def _octaves(self, points: Tensor) -> Octaves:
        return Octaves(points, torch.ones_like(points, dtype=torch.bool), self.depth)


def _power_above(x: Tensor) -> float:
    """A power of two above all of ``x``."""
    most = min(float(x.max()), _LARGEST)
    return 2.0 ** math.frexp(most)[1]


def _again(ctx: Context[_Plan], *gradients: Tensor) -> tuple[Tensor | None, ...]:
    """The gradients over all pairs, which have gradients themselves."""
    reduction, wanted = partial(log_sum_exp_over_lower, 1.0), ctx.needs_input_grad[:3]
    sides = ctx.saved_tensors[:3]
    found = dense_gradients(torch.square, reduction, sides, wanted, gradients[0])
    return *found, None


class _LogSum(Function):
    @staticmethod
    def forward(ctx: Context[_Plan], t: Tensor, v: Tensor, weight: Tensor, plan: _Plan) -> Tensor:
        # NaN belongs to neither end, and stays NaN.
        result, slope, scale = (torch.full_like(t, torch.nan) for _ in range(3))
        common = weight * plan.common
        for end, kernel in zip(plan.ends, plan.kernels, strict=True):
            total, moment = (
                plan.upper.at_points(end.lower.to_nodes(each) @ kernel.mT)
                for each in (common, common * end.away)
            )
            inverse = torch.where(total > 0, 1 / total, 0)
            values = end.t**2 + total.log(), 2 * (end.t + end.sign * moment * inverse), inverse
            for to, value in zip((result, slope, scale), values, strict=True):
                to[end.chosen] = value[end.chosen]
        ctx.kept = plan
        ctx.save_for_backward(t, v, weight, slope, scale)
        return result

    @staticmethod
    @differentiable_backward(_again)
    def backward(ctx: Context[_Plan], *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = gradients
        _, _, weight, slope, scale = ctx.saved_tensors
        plan = ctx.kept
        gradient = torch.where(scale > 0, gradient, 0)
        to_v, to_weight = torch.zeros_like(weight), torch.zeros_like(weight)
        for end, kernel in zip(plan.ends, plan.kernels, strict=True):
            flow = torch.where(end.chosen, gradient * scale, 0)
            total, moment = (
                end.lower.at_points(plan.upper.to_nodes(each) @ kernel)
                for each in (flow, flow * end.t)
            )
            to_v += moment.addcmul_(end.away, total, value=end.sign)
            to_weight += total
        to_v *= -2 * weight * plan.common
        to_weight *= plan.common
        return gradient * slope, to_v, to_weight if ctx.needs_input_grad[2] else None, None
