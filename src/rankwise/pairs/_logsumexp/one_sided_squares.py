"""log Σ_j weight_j · e^{(t_i − v_j)₊²} for every i, as one differentiable operation."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from rankwise.eager import eager_only
from rankwise.pairs._logsumexp.growing_squares import FURTHEST, growing_squares

__all__ = ["log_sum_exp_of_one_sided_squares"]

_ITEMS = 1 << 16  # of both sides, in the lists that are worked at once


def log_sum_exp_of_one_sided_squares(t: Tensor, v: Tensor, weight: Tensor) -> Tensor:
    """For ``t`` (rows, n⁺) and ``v`` (rows, n⁻), not below 0; with Σ over v < t and the rest apart.

    In a list some v of a weight is to be 0: then e^{t²} is its largest term, or nothing is, and

        log(e^{t²}·S + R) = t² + log(S + e^{−t²}·R),   S = Σ weight·K (:mod:`growing_squares`)

    can neither over- nor underflow. A list without any weight gives −inf.
    """
    result: Tensor = _LogSum.apply(t, v, weight)  # type: ignore[no-untyped-call]
    return result


class _LogSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t: Tensor, v: Tensor, weight: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        result, slope, scale = (torch.empty_like(t) for _ in range(3))
        plans = []
        for rows in _blocks(t, v):
            positive = t[rows].clamp_min(0)
            plan = growing_squares(positive, v[rows])
            total, moment = plan.at_upper(weight[rows])
            rest = plan.rest_at_upper(weight[rows]) * torch.exp(-(positive**2))
            whole = total + rest
            result[rows] = positive**2 + whole.log()
            scale[rows] = torch.where(whole > 0, 1 / whole, 0)
            slope[rows] = 2 * (positive * total - moment) * scale[rows]
            plans.append(plan)
        ctx.plans = plans
        ctx.save_for_backward(t, v, weight, slope, scale)
        return result

    @staticmethod
    @eager_only
    @torch.autograd.function.once_differentiable
    def backward(ctx, gradient: Tensor):  # type: ignore[no-untyped-def]
        t, v, weight, slope, scale = ctx.saved_tensors
        to_v = torch.empty_like(v)
        to_weight = torch.empty_like(v) if ctx.needs_input_grad[2] else None
        flow = torch.where(scale > 0, gradient, 0) * scale
        for rows, plan in zip(_blocks(t, v), ctx.plans, strict=True):
            total, moment = plan.at_lower(flow[rows])
            if bool((beyond := t[rows] - FURTHEST).max() > 0):
                moment = moment + plan.at_lower(flow[rows] * beyond.clamp_min(0))[0]
            to_v[rows] = -2 * weight[rows] * (moment - v[rows] * total)
            if to_weight is not None:
                rest = torch.exp(-(t[rows].clamp_min(0) ** 2))
                to_weight[rows] = total + plan.rest_at_lower(flow[rows] * rest)
        return torch.where(scale > 0, gradient, 0) * slope, to_v, to_weight


def _blocks(t: Tensor, v: Tensor) -> Iterator[slice]:
    at_once = max(1, _ITEMS // (t.shape[-1] + v.shape[-1]))
    for start in range(0, len(t), at_once):
        yield slice(start, start + at_once)
