"""Scores as probabilities and as decisions, by rows the model has not learned from."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from rankwise.estimators.data import Vector
from rankwise.metrics._levels import Levels
from rankwise.metrics._rules import RULES, Limit, parse_limit
from rankwise.metrics.thresholds import OperatingPoint, choose
from rankwise.serving.calibration import Calibrator

_SHARE = 1e-3  # of the sigmoid in an isotonic calibration
_LEAST = 1e-3  # slope of the sigmoid over one spread of the scores, at least


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
    scaled, share = (scores - mean) / spread, weight / weight.sum()

    def log_loss(line: Vector) -> tuple[float, Vector]:
        logits = line[0] * scaled + line[1]
        errors = share * (expit(logits) - target)
        value = share @ (np.logaddexp(0, logits) - target * logits)
        return float(value), np.array([errors @ scaled, errors.sum()])

    found = minimize(
        log_loss,
        np.array([_LEAST, 0.0]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(_LEAST, None), (None, None)],  # a model that ranks backwards is not turned round
        options={"ftol": 0, "gtol": 1e-12, "maxiter": 1000},
    )
    line = _newton(found.x, scaled, target, share)
    slope = line[0] / spread
    return float(slope), float(line[1] - slope * mean)


def _newton(line: Vector, scaled: Vector, target: Vector, share: Vector) -> Vector:
    """Return a minimum of the log-loss to the last digits.

    A search by values of a function ends at the root of their precision, 1e-8, so that equal rows
    in another order would have other probabilities. Newton's steps compare gradients.
    """
    columns = np.stack([scaled, np.ones_like(scaled)])
    columns = columns[0 if line[0] > _LEAST else 1 :]  # a slope at its bound stays there
    for _ in range(3):  # each doubles the digits
        chance = expit(line[0] * scaled + line[1])
        gradient = columns @ (share * (chance - target))
        curvature = (columns * (share * chance * (1 - chance))) @ columns.T
        step = np.linalg.lstsq(curvature, gradient, rcond=None)[0]
        line = line - np.concatenate([np.zeros(2 - len(step)), step])
    return np.array([max(line[0], _LEAST), line[1]])


_HOW = f"use {RULES}, 'top=100' or a probability such as 0.5"


@dataclass(frozen=True)
class Rule(Limit):
    """A rule of a kind (f1, precision, recall, fpr, alerts, top, probability) and its number."""

    def point(
        self, scores: Vector, positive: NDArray[np.bool_], weight: Vector | None
    ) -> OperatingPoint | None:
        """Return the operating point that rows with known classes choose; None without a choice.

        A warning says that the rows do not support the rule.
        """
        if self.kind in ("top", "probability"):
            return None
        found = choose(str(self), self, Levels.of(scores, positive, weight))
        if not found.supported:
            every = self.kind == "recall"
            then = "every row" if every else "only rows above all of them"
            warnings.warn(f"{found.reason}: {then} will be positive", UserWarning, stacklevel=3)
        return found

    def score(
        self, scores: Vector, positive: NDArray[np.bool_], weight: Vector | None, by: Calibrator
    ) -> float:
        """Return the score above which a row is positive, chosen on rows with known classes.

        ``top`` depends on the rows that are predicted and takes none: 0.
        """
        if self.kind == "top":
            return 0.0
        if self.kind == "probability":
            return by.score(self.value)
        found = self.point(scores, positive, weight)
        assert found is not None
        return found.threshold

    def positive(self, decision: Vector) -> NDArray[np.bool_]:
        """Return which rows are positive, by their scores less the threshold."""
        if self.kind != "top":
            return decision > 0
        k = int(self.value)
        if k >= len(decision):
            return np.ones(len(decision), dtype=bool)
        # At most k: rows tied over the edge are left out, since their order would be chance.
        first_out = np.partition(decision, len(decision) - k - 1)[len(decision) - k - 1]
        return np.asarray(decision > first_out)


def parse_rule(rule: str | float) -> Rule:
    """Parse a rule as a caller writes it."""
    if isinstance(rule, bool) or not isinstance(rule, (str, Real)):
        raise ValueError(f"threshold must be a rule or a number, got {rule!r}; {_HOW}")
    text = str(rule).strip().lower()
    try:
        limit = parse_limit(text)
    except ValueError as error:
        raise ValueError(f"threshold: {error}") from None
    if limit is not None:
        if limit.kind == "alerts" and limit.rows is None:
            raise ValueError(
                f"threshold {rule!r} needs the number of rows per day, which an estimator does not "
                f"know: write 'alerts<={limit.value:g}/10000' for that number in 10 000 rows"
            )
        return Rule(**vars(limit))
    kind, _, number = text.rpartition("=")
    kind = kind.strip() or "probability"
    try:
        if kind not in ("top", "probability") or "=" in text[: -len(number) - 1]:
            raise ValueError
        value = float(int(number) if kind == "top" else number)
    except ValueError:
        raise ValueError(f"threshold {rule!r} is not a rule; {_HOW}") from None
    if kind == "probability" and not 0 < value < 1:
        raise ValueError(f"threshold as a probability must lie between 0 and 1, got {value!r}")
    if kind == "top" and not value >= 1:
        raise ValueError(f"threshold {rule!r} must have a number in [1, inf]")
    return Rule(kind, value)
