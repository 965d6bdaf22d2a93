"""log Σ_j weight_j · (1 + e^{t_i − v_j})^p for every i, as one differentiable operation.

With q = σ(t) and y = e^{−v} a term is (1 + e^t)^p · (1 − q(1 − y))^p: the largest term that may
occur times a power of something in (0, 1]. That power is smooth in log q, log(1 − q), log(1 − y)
and log y alike, and counts only where it is not far below 1: in octaves of these
(:mod:`rankwise.pairs._logsumexp.octaves`) it is a small matrix.
"""

from __future__ import annotations

import math
from functools import cached_property, partial

import torch
from torch import Tensor

from rankwise.eager import Context, Function, differentiable_backward
from rankwise.pairs._dense import dense_gradients, log_sum_exp_over_lower
from rankwise.pairs._logsumexp.octaves import Octaves, uses

SMALLEST_POWER = 1 / 16
"""Below, what counts reaches beyond the range of doubles."""
_LARGE = 1e3  # power: that many times the rounding of a logarithm is too much


def log_sum_exp_of_logistic(
    t: Tensor, v: Tensor, weight: Tensor, power: float, *, at_most: float = math.inf
) -> Tensor | None:
    """For ``t`` (rows, n⁺) and ``v`` (rows, n⁻), not below 0; ``power`` at least SMALLEST_POWER.

    In a list some v of a weight is to be 0. None if the matrix would take more than ``at_most``
    (``uses`` of the octaves). A list without any weight gives −inf.
    """
    plan = _Plan(t.detach(), v.detach(), power)
    if uses(plan.upper, plan.lower) > at_most:
        return None
    return _LogSum.apply(t, v, weight, plan)


class _Plan:
    """Both sides in cells, and the sums of K(q, y) = (1 − q(1 − y))^(p − 1) over either.

    The p-th power is q̄·K + qy·K, and its slopes in t and v are qy·K times p: all of one kernel,
    and nothing is subtracted.
    """

    def __init__(self, t: Tensor, v: Tensor, power: float) -> None:
        self.power = power
        # Beyond this distance y is negligible against 1 − q, or a term against the largest.
        reach = 40 / power + 30 + math.log(max(power, 1))
        t, v = t.clamp(max=reach), v.clamp(max=reach)
        depth = min(-1, math.floor(math.log2(2 / power)))  # q·p is at most 2 in the lowest cell
        below = torch.exp(-t.abs()).clamp(max=1 - 2**-53)
        self.upper = Octaves(below, t < 0, depth)
        self.q, self.q_bar = torch.sigmoid(t), torch.sigmoid(-t)
        near = v < math.log(2)
        self.y = torch.exp(-v)
        self.lower = Octaves(torch.where(near, -torch.expm1(-v), self.y), near, depth)

    @cached_property
    def kernel(self) -> Tensor:
        """(nodes of uppers, nodes of lowers)."""
        m, c = self.upper.nodes.unsqueeze(-1), self.lower.nodes  # e^{−|t|}; 1 − y or y
        negative, near = self.upper.first.unsqueeze(-1), self.lower.first
        q, q_bar = torch.where(negative, m, 1) / (1 + m), torch.where(negative, 1, m) / (1 + m)
        left = torch.addcmul(q_bar, q, torch.where(near, 1 - c, c)).log_()
        if self.power > _LARGE:  # log1p has the digits that a number close to 1 has lost
            taken = q * torch.where(near, c, 1 - c)
            left = torch.where(taken < 0.5, torch.log1p(-taken), left)
        return left.mul_(self.power - 1).exp_()

    def at_upper(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Σ_j weight_j (…)^p and Σ_j weight_j qy(…)^(p − 1) for every upper."""
        outside, inside = (
            self.upper.at_points(self.lower.to_nodes(each) @ self.kernel.mT)
            for each in (weight, weight * self.y)
        )
        inside *= self.q
        return torch.addcmul(inside, self.q_bar, outside), inside

    def at_lower(self, weight: Tensor) -> Tensor:
        """Σ_i weight_i K(q_i, y_j) for every lower."""
        return self.lower.at_points(self.upper.to_nodes(weight) @ self.kernel)


def _again(ctx: Context[_Plan], *gradients: Tensor) -> tuple[Tensor | None, ...]:
    """The gradients over all pairs, which have gradients themselves."""
    reduction, wanted = partial(log_sum_exp_over_lower, ctx.kept.power), ctx.needs_input_grad[:3]
    sides = ctx.saved_tensors[:3]
    found = dense_gradients(torch.nn.functional.softplus, reduction, sides, wanted, gradients[0])
    return *found, None


class _LogSum(Function):
    @staticmethod
    def forward(ctx: Context[_Plan], t: Tensor, v: Tensor, weight: Tensor, plan: _Plan) -> Tensor:
        total, inside = plan.at_upper(weight)
        scale = torch.where(total > 0, 1 / total, 0)
        ctx.kept = plan
        ctx.save_for_backward(t, v, weight, plan.power * inside * scale, scale)
        return total.log() - plan.power * torch.nn.functional.logsigmoid(-t)

    @staticmethod
    @differentiable_backward(_again)
    def backward(ctx: Context[_Plan], *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = gradients
        _, _, weight, slope, scale = ctx.saved_tensors
        plan = ctx.kept
        flow = torch.where(scale > 0, gradient, 0) * scale
        inside = plan.at_lower(flow * plan.q).mul_(plan.y)
        to_weight = plan.at_lower(flow * plan.q_bar) + inside if ctx.needs_input_grad[2] else None
        to_t = torch.where(scale > 0, gradient, 0) * slope
        return to_t, inside * weight * -plan.power, to_weight, None
