"""Scores as probabilities, and as ranks among the scores of training."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def expit(x: Vector) -> Vector:
    """Return 1/(1 + exp(−x)), with all its digits on both sides of 0."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1.0 + small)


@dataclass(frozen=True)
class Calibrator:
    """The map from scores to probabilities.

    p(s) = (1 − share) · line through (knots, values) + share · σ(slope · s + intercept).

    The sigmoid alone has a share of 1. An isotonic line is flat in places; its small share of a
    sigmoid keeps p strictly increasing, so that probabilities rank as the scores do.
    """

    slope: float = 1.0
    intercept: float = 0.0
    share: float = 1.0
    knots: Vector = field(default_factory=lambda: np.zeros(0))
    values: Vector = field(default_factory=lambda: np.zeros(0))

    def probability(self, scores: Vector) -> Vector:
        """Return the probability of the positive class at every score."""
        smooth = expit(self.slope * scores + self.intercept)
        if not len(self.knots):
            return smooth
        return (1 - self.share) * np.interp(scores, self.knots, self.values) + self.share * smooth

    def score(self, probability: float) -> float:
        """Return the score that has a probability; where none has, one far outside of the knots."""
        middle = -self.intercept / self.slope
        if not len(self.knots):
            odds = np.log(probability) - np.log1p(-probability)
            return float(middle + odds / self.slope)
        reach = 700 / self.slope + np.ptp(self.knots) + abs(self.knots[0] - middle)
        low, high = middle - reach, middle + reach
        for _ in range(100):
            between = (low + high) / 2
            above = self.probability(np.array([between]))[0] > probability
            low, high = (low, between) if above else (between, high)
        return float(high)


def apply_ranks(knots: Vector, scores: Vector) -> Vector:
    """Return the log-odds of the ranks that scores would have had in the reference.

    Between two scores of the reference the line between them; beyond its ends the mean slope, so
    that no two scores become equal.

    Args:
        knots: Scores of the reference, ascending, and the log-odds of their ranks: (2, knots).
        scores: Scores to rank, (rows,).
    """
    known, odds = knots
    beyond = scores - np.clip(scores, known[0], known[-1])
    inside: Vector = np.interp(scores, known, odds)
    return inside + beyond * slope_beyond(knots)


_LEAST_WIDTH = 1e-100  # of the scores of a reference


def slope_beyond(knots: Vector) -> float:
    """Return the slope of :func:`apply_ranks` beyond the ends of the reference."""
    known, odds = knots
    width = known[-1] - known[0]
    # Scores of the reference that all but tie must not give an infinite slope.
    slope = (odds[-1] - odds[0]) / max(width, _LEAST_WIDTH) if width > 0 else 1.0
    return float(max(slope, np.finfo(float).tiny))
