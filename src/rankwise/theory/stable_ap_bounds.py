"""Generalization bounds of StableAP, with the constants of its proofs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rankwise.checks import require_positive
from rankwise.pairs import OneSidedHuber
from rankwise.theory.bounds import require_probability
from rankwise.theory.stable_ap_inequalities import stable_ap_q


@dataclass(frozen=True)
class RiskBound:
    """A bound in its three terms.

    Attributes:
        empirical: Term of the empirical risk.
        complexity: Term of the complexity of the class.
        deviation: Term of the confidence.

    Example:
        >>> from rankwise.theory import RiskBound
        >>> RiskBound(0.5, 0.25, 0.125).total
        0.875
    """

    empirical: float
    complexity: float
    deviation: float

    @property
    def total(self) -> float:
        """Return the sum of the terms."""
        return self.empirical + self.complexity + self.deviation


@dataclass(frozen=True)
class StableAPBounds:
    """Bounds of the StableAP risk h(ρ · mean w̃(r_i)ℓ_i), with the constants of the proofs.

    The paper has ρ = n⁻/n⁺ and writes (2+ρ+1/ρ)/n for 1/n⁺ + 1/n⁻. Here ρ is fixed by the prior of
    the loss, and the counts are those of the sample.

    Args:
        prior: Share π of positives, ρ = (1−π)/π.
        tau: Width of the one-sided Huber loss ℓ.
        width: Largest difference of two scores, so that B_ℓ = 1 + 2·width/τ.
        a, t: Offset and exponent of the weights, so that B_w̃ = ((1+a)/a)^t.
        epsilon: ε of h.

    Example:
        >>> from rankwise.theory import StableAPBounds
        >>> bounds = StableAPBounds(prior=0.2, tau=0.5)
        >>> round(bounds.ratio), round(bounds.loss_bound), round(bounds.weight_bound)
        (4, 9, 121)
        >>> bounds.uniform_gap(10**6, 10**6, complexity=0.0) < 108  # the range of h is below 1
        True

    Reference:
        StableAP, Theorems 2, 3 and 5, Lemmas 9 and 10.
    """

    prior: float
    tau: float = 0.1
    width: float = 2.0
    a: float = 0.1
    t: float = 2.0
    epsilon: float = 0.1

    def __post_init__(self) -> None:
        require_probability("prior", self.prior)
        for name in ("tau", "width", "a", "epsilon"):
            require_positive(name, getattr(self, name))

    @property
    def ratio(self) -> float:
        """ρ = (1−π)/π."""
        return (1 - self.prior) / self.prior

    @property
    def loss_bound(self) -> float:
        """B_ℓ, the largest ℓ."""
        return OneSidedHuber(self.tau).maximum(-self.width, self.width)

    @property
    def weight_bound(self) -> float:
        """B_w̃, the largest weight."""
        return float(((1 + self.a) / self.a) ** self.t)

    @property
    def loss_slope(self) -> float:
        """φ_ℓ = 2/τ, the largest slope of ℓ."""
        return 2 / self.tau

    @property
    def weight_slope(self) -> float:
        """φ_w̃, the largest slope of w̃(ℓ(s − μ)/B_ℓ) in the score s."""
        return self.t * self.weight_bound / self.a * self.loss_slope / self.loss_bound

    @property
    def q(self) -> float:
        """q of Theorem 1: π/2 + 2(1+ρB_ℓ)/(1+2ρB_ℓ), with π = 3.14…."""
        return stable_ap_q(self.ratio * self.loss_bound)

    @property
    def range(self) -> float:
        """Return the length of the range of h, √(1+ε²) − ε: a gap cannot be larger."""
        return math.sqrt(1 + self.epsilon**2) - self.epsilon

    def uniform_gap(
        self, n_positives: int, n_negatives: int, complexity: float, delta: float = 0.05
    ) -> float:
        """Return Lemma 9: (4ρ/ε)ℜ + (ρB_ℓB_w̃/ε)√((2+ρ+1/ρ)/(2n) · log 1/δ).

        It bounds population less empirical StableAP risk for all scorers of the class at once, with
        probability 1 − δ. ``complexity`` is the expected pairwise Rademacher complexity.
        """
        scale = self.ratio / self.epsilon
        return scale * (4 * complexity + self._deviation(n_positives, n_negatives, delta))

    def risk(
        self,
        empirical: float,
        n_positives: int,
        n_negatives: int,
        complexity: float,
        delta: float = 0.05,
    ) -> RiskBound:
        """Return the bound of Theorem 2 on the population's 1 − AP, from the StableAP risk."""
        q, scale = self.q, self.q**2 * self.ratio / self.epsilon
        deviation = self._deviation(n_positives, n_negatives, delta)
        return RiskBound(q**2 / 2 * empirical, 2 * scale * complexity, scale / 2 * deviation)

    def risk_by_covering(
        self,
        empirical: float,
        n_positives: int,
        n_negatives: int,
        capacity: float,
        delta: float = 0.05,
    ) -> RiskBound:
        """Return the bound of Theorem 3, its Õ replaced by Theorem 5, Lemma 10 and Theorem 2.

        Lemma 10 and Theorem 2 have the probability δ/2 each. ``capacity`` is A of the covering
        numbers log N(ε) ≤ A log(b/ε); the number of features for linear scores.
        """
        complexity = self.chaining(n_positives, n_negatives, capacity)
        complexity += self.complexity_deviation(n_positives, n_negatives, delta / 2)
        return self.risk(empirical, n_positives, n_negatives, complexity, delta / 2)

    def chaining(self, n_positives: int, n_negatives: int, capacity: float) -> float:
        """Return Theorem 5 (2), the bound of the empirical complexity by covering numbers.

        K/√n + (12C₀B_ℓ/√n)·√(A/2 · log(B_ℓ²n)) with K = 2B_w̃φ_ℓ + B_ℓφ_w̃ and
        C₀ = K/2 · √(2+ρ+1/ρ), as in the proof; one line of the statement prints B_w̃ for φ_w̃.
        """
        n, bound = n_positives + n_negatives, self.loss_bound
        slope = 2 * self.weight_bound * self.loss_slope + bound * self.weight_slope
        spread = slope / 2 * math.sqrt(1 / n_positives + 1 / n_negatives)  # C₀/√n
        entropy = math.sqrt(capacity / 2 * math.log(bound**2 * n))
        return slope / math.sqrt(n) + 12 * spread * bound * entropy

    def complexity_deviation(self, n_positives: int, n_negatives: int, delta: float) -> float:
        """Return Lemma 10's B_w̃B_ℓ√(2(2+ρ+1/ρ)/n · log 1/δ): expected less empirical complexity."""
        return 2 * self._deviation(n_positives, n_negatives, delta)

    def _deviation(self, n_positives: int, n_negatives: int, delta: float) -> float:
        """B_ℓB_w̃ √((1/n⁺ + 1/n⁻)/2 · log 1/δ)."""
        require_probability("delta", delta)
        spread = (1 / n_positives + 1 / n_negatives) / 2 * math.log(1 / delta)
        return self.loss_bound * self.weight_bound * math.sqrt(spread)
