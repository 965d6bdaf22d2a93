"""Ranking losses of one-stage detectors: AP-loss and DR loss."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import softplus

from rankwise.checks import require_each, require_number, require_positive
from rankwise.lists import Lists
from rankwise.objectives import Objective
from rankwise.objectives.base import Reduction
from rankwise.pairs import pair_sum
from rankwise.pairs.forms import Piece
from rankwise.pairs.surrogates.base import PiecewisePolynomial, Polynomials


@dataclass(frozen=True)
class ErrorDrivenStep(PiecewisePolynomial):
    """H(−x), the step from 1 to 0 as a line between −δ and δ, with −H as its declared derivative.

    A step has no useful derivative. The error-driven update (Chen et al. 2019, Eq. 11) moves a pair
    by its own error, here H: declaring this slope lets the chain rule do the rest.
    """

    delta: float = 1.0

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
    """Return the positives (itself included) and the negatives that rank above each positive.

    The second carries the error-driven gradient, the first none.
    """
    positives = lists.positives.detach()
    among = pair_sum(step, positives, positives, weight=lists.positive_weight)
    above = pair_sum(step, lists.positives, lists.negatives, weight=lists.negative_weight)
    return among + 0.5, above  # the item itself has H(0) = ½ in the sum, and counts as 1


class ErrorDrivenAP(Objective):
    """AP-loss of one-stage detectors, with the error-driven update as its gradient.

    The loss is 1 − AP = mean_{i∈P} Σ_{j∈N} L_ij, L_ij = H(s_j − s_i)/rank_i. H is 0 below −δ, 1
    above δ and a line between; rank_i = 1 + Σ_{k≠i} H(s_k − s_i) over all items. The gradient is
    not a derivative: each negative goes down and each positive up by the error of their pairs,
    ∂/∂s_j = Σ_i L_ij/n⁺ and ∂/∂s_i = −Σ_j L_ij/n⁺. The authors' code loops over the positives; here
    both sums and both gradients take n log n.

    Args:
        delta: Half width δ of the step; 1 in the authors' code (cccorn/AP-loss, ``aploss.py``).
        interpolated: Whether to use interpolated AP as the authors' code does: from the lowest
            score up, the best precision so far replaces a positive's own, and its L_ij shrinks to
            match. Their formulas have no such step; without it the value is 1 − AP of those.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import ErrorDrivenAP
        >>> scores = torch.tensor([3.0, 0.0, -3.0], requires_grad=True)
        >>> loss = ErrorDrivenAP()(scores, torch.tensor([0, 1, 0]))  # one positive at rank 2
        >>> loss.backward()
        >>> loss.item(), scores.grad
        (0.5, tensor([ 0.5000, -0.5000,  0.0000]))

    Reference:
        Chen et al. 2019, "Towards accurate one-stage object detection with AP-loss".
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
    """Return, for every positive, the least error at or below its score over its own error."""
    present = error.masked_fill(lists.positive_weight == 0, torch.inf)
    order = lists.positives.argsort(dim=-1)
    least = present.gather(-1, order).cummin(-1).values
    least = torch.empty_like(least).scatter_(-1, order, least)
    return torch.where(least < error, least / error, 1)


class DistributionalRanking(Objective):
    """DR loss of one-stage detectors: the hardest positives ranked above the hardest negatives.

    The loss is τ/L · log(1 + exp(L(P⁻ − P⁺ + γ))). P⁻ = Σ_j q_j p_j over the negatives with q ∝
    exp(p/λ⁻) and P⁺ = Σ_i q_i p_i over the positives with q ∝ exp(−p/λ⁺) are the means of the
    probabilities p = sigmoid(s) under the least favorable distributions at a bounded distance from
    the uniform one. The gradient goes through q as well. Defaults are those of the released code
    (idstcv/DR_loss, ``sigmoid_dr_loss.py``). For a list without positives that code ranks P⁻ below
    1; here such a list contributes nothing, as with every ranking objective.

    Args:
        positive_lambda: λ⁺, larger for a distribution closer to uniform.
        negative_lambda: λ⁻, likewise.
        steepness: L of the smoothed hinge.
        margin: γ, the distance wanted between the two means.
        tau: Factor τ of the loss.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import DistributionalRanking
        >>> scores, target = torch.tensor([0.0, 0.0]), torch.tensor([1, 0])
        >>> DistributionalRanking()(scores, target)  # P⁻ = P⁺: 4/6 · log(1 + e^(6 · 0.5))
        tensor(2.0324)

    Reference:
        Qian et al. 2020, "DR loss: Improving object detection by distributional ranking".
    """

    twice_differentiable = True

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
        lambdas = {"positive_lambda": positive_lambda, "negative_lambda": negative_lambda}
        require_each(require_positive, **lambdas, steepness=steepness, tau=tau)
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
    """Return Σ q·p with q ∝ weight·exp(rate·p), one number for each list."""
    p = torch.sigmoid(scores)
    q = torch.softmax(rate * p + weight.log(), dim=-1)
    return (q * p).sum(-1)
