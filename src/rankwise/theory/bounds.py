"""Bounds of stability and generalization: SOPRC and pAp@k, as rates without a known constant."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rankwise.checks import require_count, require_each, require_positive


def stability_gap_bound(
    gradient_bound: float,
    positive_stability: float,
    negative_stability: float,
    batch_positives: int,
    batch_negatives: int,
) -> float:
    """Compute G(n⁺ε⁺ + n⁻ε⁻), which bounds the expected gap of population and training risk.

    Args:
        gradient_bound: G, the largest norm of the gradient of the batch risk in the parameters.
        positive_stability, negative_stability: ε⁺ and ε⁻ of :func:`model_stability`.
        batch_positives, batch_negatives: n⁺ and n⁻, the examples of each class in a batch.

    Returns:
        The bound.

    Example:
        >>> from rankwise.theory import stability_gap_bound
        >>> round(stability_gap_bound(2.0, 0.01, 0.001, 8, 24), 3)  # 2 · (0.08 + 0.024)
        0.208

    Reference:
        SOPRC, Theorem 1 (Eq. 12).
    """
    require_each(require_count, batch_positives=batch_positives, batch_negatives=batch_negatives)
    moved = batch_positives * positive_stability + batch_negatives * negative_stability
    return gradient_bound * moved


def excess_risk_rate(
    n_positives: int,
    n_negatives: int,
    batch_positives: int,
    batch_negatives: int,
    condition: float = 1.0,
) -> float:
    """Compute the rate of SOPRC's excess risk; the paper gives no constant for it.

    (N⁺)^(−(λ+1)/(2λ+1)) · (n⁺)^((3λ+1)/(2λ+1)), plus the same of the negatives. In N⁺ the exponent
    lies between −1 (λ → 0) and −1/2 (λ → ∞).

    Args:
        n_positives, n_negatives: N⁺ and N⁻, the examples of each class in the data set.
        batch_positives, batch_negatives: n⁺ and n⁻, the examples of each class in a batch.
        condition: λ = LC(1 + √(1+β−β²)), about 4L/μ with the steps of Theorem 3.

    Returns:
        The rate: the bound divided by its unknown constant.

    Example:
        >>> from rankwise.theory import excess_risk_rate
        >>> excess_risk_rate(1000, 8000, 8, 1)  # 8^(4/3)/1000^(2/3) + 1/8000^(2/3)
        0.1625

    Reference:
        SOPRC, Theorem 4 (Eq. 18).
    """
    require_positive("condition", condition)
    total = 0.0
    for size, batch in ((n_positives, batch_positives), (n_negatives, batch_negatives)):
        steps = 2 * condition + 1
        total += size ** (-(condition + 1) / steps) * batch ** ((3 * condition + 1) / steps)
    return total


def pap_gap_rate(
    n_positives: int,
    n_negatives: int,
    rate: float,
    positive_rate: float = 1.0,
    *,
    dimension: int,
    delta: float = 0.05,
) -> float:
    """Compute the rate of the uniform gap of the pAp@k risk; the paper does not give its constant.

    √((d ln n⁺ + ln 1/δ)/n⁺)/γ⁺ + √((d ln n⁻ + ln 1/δ)/n⁻)/γ⁻. Multiplied by a constant C that does
    not depend on the data, it bounds population less empirical risk for all scorers at once, with
    probability 1 − δ. The appendix with the proof is not part of the document.

    Args:
        n_positives, n_negatives: Examples of each class in the sample.
        rate: γ⁻ = k/n⁻ in (0, 1].
        positive_rate: γ⁺ in (0, 1].
        dimension: VC dimension d of the thresholded scorers; p + 1 for linear ones of p features.
        delta: Probability δ of failure (ρ in the paper), in (0, 1).

    Returns:
        The rate: the bound divided by its unknown constant.

    Example:
        >>> from rankwise.theory import pap_gap_rate
        >>> round(pap_gap_rate(100, 400, 0.1, dimension=3), 3)  # 0.410 + 10 · 0.229
        2.7

    Reference:
        Hiranandani et al. 2020, "Optimization and Analysis of the pAp@k Metric", Theorem 2.
    """
    require_probability("delta", delta)
    total = 0.0
    for n, name, share in (
        (n_positives, "positive_rate", positive_rate),
        (n_negatives, "rate", rate),
    ):
        if not 0 < share <= 1:
            raise ValueError(f"{name} must lie in (0, 1], got {share!r}; pass k/n of the class")
        total += math.sqrt((dimension * math.log(n) + math.log(1 / delta)) / n) / share
    return total


@dataclass(frozen=True)
class StabilityBound:
    """Bounds of ε⁺ and ε⁻, and of the same distances of the vector v.

    Attributes:
        positive, negative: Bounds of ε⁺ and ε⁻.
        memory_positive, memory_negative: Bounds of the mean ‖v − v⁽ⁱ⁾‖₂.

    Example:
        >>> from rankwise.theory import StabilityBound
        >>> StabilityBound(0.2, 0.1, 0.02, 0.01).positive
        0.2
    """

    positive: float
    negative: float
    memory_positive: float
    memory_negative: float


def soprc_lemma_1(
    steps: int,
    *,
    smoothness: float,
    scale: float,
    ema_rate: float,
    n_positives: int,
    n_negatives: int,
    batch_positives: int,
) -> StabilityBound:
    """Compute the bounds of the stability after T steps of η_t = C/t by the recurrence of Lemma 1.

    m_{t+1} ≤ (I + R_t)·m_t for m = (‖w − w⁽ⁱ⁾‖, ‖v − v⁽ⁱ⁾‖, 1), with R_t of Eq. 14 and L
    in place of its L_v.

    Args:
        steps: T.
        smoothness: L, the largest of L_w, L_v/n⁺, C_φB, G and (1−π)B_ℓ/π.
        scale: C of η_t = C/t.
        ema_rate: β.
        n_positives: N⁺, positives in the data set.
        n_negatives: N⁻.
        batch_positives: n⁺, positives in a batch.

    Returns:
        The bounds.

    Example:
        >>> from rankwise.theory import soprc_lemma_1
        >>> sizes = {"n_positives": 100, "n_negatives": 900, "batch_positives": 9}
        >>> bound = soprc_lemma_1(1, smoothness=2.0, scale=0.5, ema_rate=0.1, **sizes)
        >>> bound.positive, bound.negative, bound.memory_positive  # LC/N⁺, LCn⁺/N⁻, 1/N⁺
        (0.01, 0.01, 0.01)

    Reference:
        SOPRC, Lemma 1, Eq. 13 and 14.
    """
    require_count("steps", steps)
    require_each(require_positive, smoothness=smoothness, scale=scale, ema_rate=ema_rate)
    found = []
    for push, memory_push in ((1 / n_positives,) * 2, (batch_positives / n_negatives, 0.0)):
        model = memory = 0.0
        for step in range(1, steps + 1):
            rate = smoothness * scale / step
            carried = rate * (1 - ema_rate) / n_positives * memory
            model, memory = (
                (1 + 2 * rate) * model + carried + rate * push,
                smoothness * ema_rate * model + memory + memory_push,
            )
        found.append((model, memory))
    (positive, memory_positive), (negative, memory_negative) = found
    return StabilityBound(positive, negative, memory_positive, memory_negative)


def soprc_lambda(smoothness: float, scale: float, ema_rate: float) -> float:
    """Compute λ = LC(1 + √(1 + β − β²)) of Theorem 2.

    Args:
        smoothness: L of Lemma 1.
        scale: C of η_t = C/t.
        ema_rate: β.

    Returns:
        λ, the largest eigenvalue of the recurrence of Lemma 1.

    Example:
        >>> from rankwise.theory import soprc_lambda
        >>> soprc_lambda(smoothness=2.0, scale=0.5, ema_rate=1.0)
        2.0

    Reference:
        SOPRC, Theorem 2.
    """
    return smoothness * scale * (1 + math.sqrt(1 + ema_rate - ema_rate**2))


def soprc_theorem_2(steps: int, batch: int, total: int, lam: float) -> float:
    """Compute the order (Tn)^(λ/(λ+1))/N of the stability, without its constant.

    Args:
        steps: T, at most N⁺.
        batch: n⁺ or n⁻, positives or negatives in a batch.
        total: N⁺ or N⁻, those in the data set.
        lam: λ of :func:`soprc_lambda`.

    Returns:
        The order of ε⁺ for positives, of ε⁻ for negatives.

    Example:
        >>> from rankwise.theory import soprc_theorem_2
        >>> soprc_theorem_2(steps=50, batch=8, total=1000, lam=1.0)  # √400/1000
        0.02

    Reference:
        SOPRC, Theorem 2, Eq. 15.
    """
    require_each(require_count, steps=steps, batch=batch, total=total)
    return float((steps * batch) ** (lam / (lam + 1)) / total)


def require_probability(name: str, value: float) -> None:
    """Raise unless a value lies in (0, 1)."""
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie in (0, 1), got {value!r}; pass a probability")
