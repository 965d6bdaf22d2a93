"""The inequalities of StableAP that hold for every list: Lemma 3, Lemma 8 and Theorem 1."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from rankwise.checks import require_positive
from rankwise.objectives.ap.formulas import saturating, stable_weights
from rankwise.pairs import Surrogate, ZeroOne, as_surrogate, pair_sum


@dataclass(frozen=True, eq=False)
class Inequality:
    """A claim ``sides[0] ≤ sides[1] ≤ …`` with its sides as numbers, one for each list.

    Attributes:
        name: The claim.
        sides: Values of the sides from left to right, each (lists,).

    Example:
        >>> import torch
        >>> from rankwise.theory import Inequality
        >>> claim = Inequality("x ≤ 1", (torch.tensor([0.5, 2.0]), torch.ones(2)))
        >>> claim.holds
        tensor([ True, False])
        >>> print(claim)
        x ≤ 1: holds in 1 of 2 draws
    """

    name: str
    sides: tuple[Tensor, ...]

    @property
    def holds(self) -> Tensor:
        """Whether every step holds, up to rounding, (lists,)."""
        steps = zip(self.sides[:-1], self.sides[1:], strict=True)
        return torch.stack([a <= b + 1e-9 * (1 + b.abs()) for a, b in steps]).all(0)

    def __str__(self) -> str:
        return f"{self.name}: holds in {int(self.holds.sum()):,} of {self.holds.numel():,} draws"


def rank_weights(ranks: Tensor, bound: float) -> Tensor:
    """Compute the weights w(r) of Theorem 1: ½(r − r²)^(−1/2) for r ≤ ½, (1+ρB)/(r+ρB) above.

    Args:
        ranks: Shares r in (0, 1] of the positives that are not below each positive.
        bound: ρB, where ρ = n⁻/n⁺ and B is the largest value of the pairwise loss.

    Returns:
        The weights, in the shape of ``ranks``.

    Example:
        >>> import torch
        >>> from rankwise.theory import rank_weights
        >>> rank_weights(torch.tensor([0.2, 0.5, 0.75, 1.0]), bound=0.25)  # ½/√.16, ½/√.25, 1.25/1
        tensor([1.2500, 1.0000, 1.2500, 1.0000])

    Reference:
        StableAP, Theorem 1.
    """
    top = 0.5 * (ranks - ranks**2).clamp_min(torch.finfo(ranks.dtype).tiny).rsqrt()
    return torch.where(ranks <= 0.5, top, (1 + bound) / (ranks + bound))


def stable_ap_q(bound: float) -> float:
    """Compute q = π/2 + 2(1+ρB)/(1+2ρB), the constant of Theorem 1 and Lemma 8.

    Args:
        bound: ρB, where ρ = n⁻/n⁺ and B is the largest value of the pairwise loss.

    Returns:
        q, between π/2 + 1 and π/2 + 2.

    Example:
        >>> from rankwise.theory import stable_ap_q
        >>> round(stable_ap_q(1.0), 4)  # π/2 + 4/3
        2.9041

    Reference:
        StableAP, Theorem 1.
    """
    return math.pi / 2 + 2 * (1 + bound) / (1 + 2 * bound)


def stable_ap_lemma_3(
    positives: Tensor, negatives: Tensor, surrogate: Surrogate | str, *, width: float = 2.0
) -> Inequality:
    """Compute both bounds of the mean weight: 1 ≤ mean_i w(r_i) ≤ q/2.

    Args:
        positives: Scores of the positives, (…, n⁺).
        negatives: Scores of the negatives, (…, n⁻), of which only the number counts.
        surrogate: Pairwise loss ℓ, or its name.
        width: Largest difference of two scores; B is the largest ℓ within it.

    Returns:
        The sides 1, mean_i w(r_i) and q/2.

    Example:
        >>> import torch
        >>> from rankwise.theory import stable_ap_lemma_3
        >>> positives, negatives = torch.tensor([0.5, 0.1]), torch.zeros(2)
        >>> claim = stable_ap_lemma_3(positives, negatives, "hinge(margin=1)")
        >>> [round(float(side), 3) for side in claim.sides]  # w(½) = w(1) = 1; π/4 + 4/7
        [1.0, 1.0, 1.357]

    Reference:
        StableAP, Lemma 3.
    """
    terms = _Terms(positives, negatives, surrogate, width)
    mean = terms.weights.mean(-1)
    upper = torch.full_like(mean, terms.q / 2)
    return Inequality("StableAP, Lemma 3", (torch.ones_like(mean), mean, upper))


def stable_ap_lemma_8(
    positives: Tensor,
    negatives: Tensor,
    surrogate: Surrogate | str,
    *,
    width: float = 2.0,
    epsilon: float = 0.1,
    a: float = 0.1,
    t: float = 2.0,
) -> Inequality:
    """Compute h(ρ·mean w(r_i)ℓ_i) ≤ q·h(ρ·mean w̃(r̃_i)ℓ_i): what the smooth weights cost.

    Args:
        positives: Scores of the positives, (…, n⁺).
        negatives: Scores of the negatives, (…, n⁻).
        surrogate: Pairwise loss ℓ, or its name.
        width: Largest difference of two scores; B is the largest ℓ within it.
        epsilon: ε of h(x) = √(ε² + x/(1+x)).
        a: Offset of the weights w̃.
        t: Exponent of the weights w̃.

    Returns:
        The two sides.

    Example:
        >>> import torch
        >>> from rankwise.theory import stable_ap_lemma_8
        >>> claim = stable_ap_lemma_8(torch.tensor([0.5]), torch.tensor([0.5]), "hinge(margin=1)")
        >>> [round(float(side), 3) for side in claim.sides]  # √.51, q·√(.01 + x/(1+x)), x = 6.44
        [0.714, 2.539]

    Reference:
        StableAP, Lemma 8.
    """
    terms = _Terms(positives, negatives, surrogate, width)
    gap = terms.positives - terms.positives.mean(-1, keepdim=True)
    smooth = stable_weights(terms.surrogate, gap, width, a, t)
    left, right = (terms.outer(weights, epsilon) for weights in (terms.weights, smooth))
    return Inequality("StableAP, Lemma 8", (left, terms.q * right))


def stable_ap_theorem_1(
    positives: Tensor,
    negatives: Tensor,
    surrogate: Surrogate | str,
    *,
    width: float = 2.0,
    epsilon: float = 0.1,
) -> Inequality:
    """Compute 1 − AP ≤ mean_i h̃(ρℓ_i/r_i) ≤ (q/2)·h(ρ·mean_i w(r_i)ℓ_i), h̃(x) = x/(1+x).

    h(x) = √(ε² + h̃(x)): the document prints the exponent −1/2, with which h decreases.

    Args:
        positives: Scores of the positives, (…, n⁺).
        negatives: Scores of the negatives, (…, n⁻).
        surrogate: Pairwise loss ℓ ≥ ℓ₀₁, or its name.
        width: Largest difference of two scores; B is the largest ℓ within it.
        epsilon: ε of h.

    Returns:
        The three sides.

    Example:
        >>> import torch
        >>> from rankwise.theory import stable_ap_theorem_1
        >>> positives, negatives = torch.tensor([0.5]), torch.tensor([0.5])  # ℓ = ℓ₀₁ = r = 1
        >>> claim = stable_ap_theorem_1(positives, negatives, "hinge(margin=1)")
        >>> [round(float(side), 3) for side in claim.sides]  # ½, ½, (π/4 + 4/7)·√.51
        [0.5, 0.5, 0.969]

    Reference:
        StableAP, Theorem 1.
    """
    terms = _Terms(positives, negatives, surrogate, width)
    wrong = pair_sum(ZeroOne(), terms.positives, terms.negatives) / terms.negatives.shape[-1]
    exact, middle = (
        saturating(terms.rho * errors / terms.ranks).mean(-1) for errors in (wrong, terms.errors)
    )
    right = terms.q / 2 * terms.outer(terms.weights, epsilon)
    return Inequality("StableAP, Theorem 1", (exact, middle, right))


class _Terms:
    """What the three inequalities share: ρ, q, r_i, w(r_i) and ℓ_i of every positive."""

    def __init__(
        self, positives: Tensor, negatives: Tensor, surrogate: Surrogate | str, width: float
    ) -> None:
        require_positive("width", width)
        self.surrogate = as_surrogate(surrogate)
        self.positives, self.negatives = positives.double(), negatives.double()
        n_positives, n_negatives = positives.shape[-1], negatives.shape[-1]
        for name, count in (("positives", n_positives), ("negatives", n_negatives)):
            if count == 0:
                raise ValueError(f"{name} must be one or more scores, got none")
        self.rho = n_negatives / n_positives
        bound = self.rho * self.surrogate.maximum(-width, width)
        self.q = stable_ap_q(bound)
        self.ranks = pair_sum(ZeroOne(), self.positives, self.positives) / n_positives
        self.errors = pair_sum(self.surrogate, self.positives, self.negatives) / n_negatives
        self.weights = rank_weights(self.ranks, bound)

    def outer(self, weights: Tensor, epsilon: float) -> Tensor:
        """Return h(ρ·mean_i weight_i ℓ_i)."""
        x = self.rho * (weights * self.errors).mean(-1)
        return torch.sqrt(epsilon**2 + saturating(x))
