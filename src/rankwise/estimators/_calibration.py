"""Calibration: scores as probabilities, by rows the model has not learned from."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

from rankwise.estimators.data import Vector

_SHARE = 1e-3  # of the sigmoid in an isotonic calibration
_LEAST = 1e-3  # slope of the sigmoid over one spread of the scores, at least


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
        smooth: Vector = expit(self.slope * scores + self.intercept)
        if not len(self.knots):
            return smooth
        return (1 - self.share) * np.interp(scores, self.knots, self.values) + self.share * smooth

    def score(self, probability: float) -> float:
        """Return the score that has a probability; a far end where none has."""
        middle = -self.intercept / self.slope
        if not len(self.knots):
            return float(middle + logit(probability) / self.slope)
        reach = 700 / self.slope + np.ptp(self.knots) + abs(self.knots[0] - middle)
        low, high = middle - reach, middle + reach
        for _ in range(100):
            between = (low + high) / 2
            above = self.probability(np.array([between]))[0] > probability
            low, high = (low, between) if above else (between, high)
        return float(high)


def calibrate(
    kind: str | None, scores: Vector, positive: NDArray[np.bool_], weight: Vector | None
) -> Calibrator:
    """Fit the calibration of a kind to scores of rows with known classes."""
    if kind is None:
        return Calibrator()
    weight = np.ones(len(scores)) if weight is None else weight
    slope, intercept = platt(scores, positive, weight)
    if kind == "sigmoid":
        return Calibrator(slope, intercept)
    line = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    line.fit(scores, positive.astype(np.float64), sample_weight=weight)
    knots, values = (np.asarray(a, np.float64) for a in (line.X_thresholds_, line.y_thresholds_))
    return Calibrator(slope, intercept, _SHARE, knots, values)


def platt(scores: Vector, positive: NDArray[np.bool_], weight: Vector) -> tuple[float, float]:
    """Return slope > 0 and intercept of the logistic regression on the score (Platt 1999).

    The targets are Platt's (n⁺ + 1)/(n⁺ + 2) and 1/(n⁻ + 2), which keep the slope finite where the
    classes are separated.
    """
    n_positives, n_negatives = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (n_positives + 1) / (n_positives + 2), 1 / (n_negatives + 2))
    mean = np.average(scores, weights=weight)
    spread = np.sqrt(np.average((scores - mean) ** 2, weights=weight)) or 1.0
    rows = np.stack([(scores - mean) / spread, np.ones_like(scores)], axis=1)
    found = _newton(rows, target, weight, np.zeros(2), free=np.array([True, True]))
    if found[0] < _LEAST:  # a model that ranks backwards is not turned round
        found = _newton(rows, target, weight, np.array([_LEAST, 0.0]), free=np.array([False, True]))
    slope = found[0] / spread
    return float(slope), float(found[1] - slope * mean)


def _newton(
    rows: Vector, target: Vector, weight: Vector, start: Vector, free: NDArray[np.bool_]
) -> Vector:
    """Minimize the log-loss by Newton steps, halved until they help; ``free`` coordinates move."""
    now, value = start, _log_loss(rows @ start, target, weight)
    for _ in range(100):
        p = expit(rows @ now)
        gradient = (rows.T @ (weight * (p - target)))[free]
        curvature = (rows.T * (weight * p * (1 - p))) @ rows + 1e-12 * weight.sum() * np.eye(2)
        step = np.zeros(2)
        step[free] = np.linalg.solve(curvature[np.ix_(free, free)], gradient)
        size = 1.0
        while size > 1e-10 and _log_loss(rows @ (now - size * step), target, weight) > value:
            size /= 2
        if size <= 1e-10 or np.abs(size * step).max() < 1e-12:
            break
        now = now - size * step
        value = _log_loss(rows @ now, target, weight)
    return now


def _log_loss(logits: Vector, target: Vector, weight: Vector) -> float:
    return float((weight * (np.logaddexp(0, logits) - target * logits)).sum())
