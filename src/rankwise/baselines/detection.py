"""Ranking losses of one-stage detectors: AP-loss and DR loss."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import softplus

from rankwise.checks import require_number, require_positive
from rankwise.lists import Lists
from rankwise.objectives import Objective
from rankwise.objectives.base import Reduction
from rankwise.pairs import pair_sum
from rankwise.pairs.forms import Piece
from rankwise.pairs.surrogates.base import PiecewisePolynomial, Polynomials

__all__ = ["DistributionalRanking", "ErrorDrivenAP", "ErrorDrivenStep", "ranks"]


@dataclass(frozen=True)
class ErrorDrivenStep(PiecewisePolynomial):
    """H(−x), the step from 1 to 0 as a line between −δ and δ, whose derivative *is said* to be −H.

    A step tells nothing of which way to go. The error-driven update (Chen et al. 2019, Eq. 11)
    moves a pair by its own error, here H: all that the chain rule has to be told is this slope.
    """

    delta: float = 1.0

    def __post_init__(self) -> None:
        require_positive("delta", self.delta)

    def value(self, x: Tensor) -> Tensor:
        fixed = x.detach()
        step = (0.5 - fixed / (2 * self.delta)).clamp(0, 1)
        return step - step * (x - fixed)

    def polynomials(self) -> Polynomials:
        slope = -1 / (2 * self.delta)
        return (-math.inf, (1.0,)), (-self.delta, (0.5, slope)), (self.delta, ())

    def pieces(self, order: int = 0) -> tuple[Piece, ...]:
        sign = (-1.0) ** order
        return tuple(
            Piece(piece.start, piece.stop, tuple(sign * factor for factor in piece.polynomial))
            for piece in super().pieces()
        )


def ranks(step: ErrorDrivenStep, lists: Lists) -> tuple[Tensor, Tensor]:
    """How many positives, itself one of them, and how many negatives rank above each positive.

    The second carries the error-driven gradient, the first none.
    """
    positives = lists.positives.detach()
    among = pair_sum(step, positives, positives, weight=lists.positive_weight)
    above = pair_sum(step, lists.positives, lists.negatives, weight=lists.negative_weight)
    return among + 0.5, above  # the item itself has H(0) = ½ in the sum, and counts as 1


class ErrorDrivenAP(Objective):
    """mean_{i∈P} Σ_{j∈N} L_ij, L_ij = H(s_j − s_i)/rank_i: 1 − AP   (Chen et al. 2019, "AP-loss").

    H is 0 below −δ, 1 above δ and a line between; rank_i = 1 + Σ_{k≠i} H(s_k − s_i) over all items.
    The gradient is no derivative but the error-driven update: each negative goes down and each
    positive up by what their pairs have lost, ∂/∂s_j = Σ_i L_ij/n⁺ and ∂/∂s_i = −Σ_j L_ij/n⁺.

    ``interpolated``: the authors' code walks the positives from the lowest score up and takes
    the best precision so far in place of a positive's own (interpolated AP), its L_ij made smaller
    to match. Their formulas have no such step; without it the value is 1 − AP of those. The code
    loops over the positives; here both sums and both gradients go through the engine at once.
    """

    def __init__(
        self, delta: float = 1.0, *, interpolated: bool = True, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        self.step, self.interpolated = ErrorDrivenStep(delta), interpolated

    def risk(self, lists: Lists) -> Tensor:
        right, above = ranks(self.step, lists)
        share = 1 / (right + above.detach())
        if self.interpolated:
            share = share * _interpolation(lists, share * above)
        return lists.mean_over_positives(share * above)


@torch.no_grad()
def _interpolation(lists: Lists, error: Tensor) -> Tensor:
    """The least error at this score or below, as a share of its own, for every positive."""
    present = error.masked_fill(lists.positive_weight == 0, torch.inf)
    order = lists.positives.argsort(dim=-1)
    least = present.gather(-1, order).cummin(-1).values
    least = torch.empty_like(least).scatter_(-1, order, least)
    return torch.where(least < error, least / error, 1)


class DistributionalRanking(Objective):
    """τ/L · log(1 + exp(L(P⁻ − P⁺ + γ)))   (Qian et al. 2020, "DR loss").

    P⁻ = Σ_j q_j p_j over the negatives with q ∝ exp(p/λ⁻) and P⁺ = Σ_i q_i p_i over the positives
    with q ∝ exp(−p/λ⁺): the means of the probabilities p = sigmoid(s) under the least favorable
    distributions at a bounded distance from the uniform one. The gradient goes through q as well.
    Defaults are those of the released code. For a list without positives that code ranks P⁻ below
    1; here such a list contributes nothing, as with every ranking objective.
    """

    def __init__(
        self,
        positive_lambda: float = 1.0,
        negative_lambda: float = 0.1 / math.log(3.5),
        *,
        steepness: float = 6.0,
        margin: float = 0.5,
        tau: float = 4.0,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        for name, value in (
            ("positive_lambda", positive_lambda),
            ("negative_lambda", negative_lambda),
            ("steepness", steepness),
            ("tau", tau),
        ):
            require_positive(name, value)
        require_number("margin", margin)
        self.positive_lambda, self.negative_lambda = positive_lambda, negative_lambda
        self.steepness, self.margin, self.tau = steepness, margin, tau

    def risk(self, lists: Lists) -> Tensor:
        lists = lists.widened()
        low = _hardest_mean(lists.positives, lists.positive_weight, -1 / self.positive_lambda)
        high = _hardest_mean(lists.negatives, lists.negative_weight, 1 / self.negative_lambda)
        z = self.steepness * (high - low + self.margin)
        return self.tau / self.steepness * softplus(z)


def _hardest_mean(scores: Tensor, weight: Tensor, rate: float) -> Tensor:
    """Σ q·p with q ∝ weight·exp(rate·p), one number for each list."""
    p = torch.sigmoid(scores)
    q = torch.softmax(rate * p + weight.log(), dim=-1)
    return (q * p).sum(-1)
