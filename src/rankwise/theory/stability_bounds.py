"""What SOPRC proves of its stability with learning rates C/t: Lemma 1 and Theorem 2."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rankwise.checks import require_count, require_positive


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
    for name, value in (("smoothness", smoothness), ("scale", scale), ("ema_rate", ema_rate)):
        require_positive(name, value)
    pushes = (1 / n_positives, batch_positives / n_negatives)
    memory_pushes = (1 / n_positives, 0.0)
    found = []
    for push, memory_push in zip(pushes, memory_pushes, strict=True):
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
    for name, value in (("steps", steps), ("batch", batch), ("total", total)):
        require_count(name, value)
    return float((steps * batch) ** (lam / (lam + 1)) / total)
