"""The classes of y: their shares, and scores of more than two as log-odds and probabilities."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import logsumexp
from torch import Tensor

from rankwise.estimators._decisions import calibrate
from rankwise.estimators.data import Floats, Part, Vector
from rankwise.naming import class_metric
from rankwise.serving.calibration import Calibrator

_LEAST = 1e-300  # a probability below it has no logarithm


def prior_of(part: Part, labels: NDArray[np.generic]) -> float:
    """Return the weighted share of positives of two classes, both of which must be there."""
    positive = part.positive
    if positive.all() or not positive.any():
        raise ValueError(
            "y must contain both classes among the rows with a weight above 0, "
            f"got only the class {labels[int(positive.any())]!r}"
        )
    return float(np.average(positive, weights=part.weight))


def shares_of(part: Part, labels: NDArray[np.generic]) -> Vector | None:
    """Return the weighted shares of more than two classes, all of which must be there."""
    if part.classes == 2:
        return None
    mass = np.bincount(part.target.astype(np.int64), part.weight, part.classes)
    if not mass.all():
        raise ValueError(
            "y must contain every class among the rows with a weight above 0, got none of "
            f"the class {labels[int(mass.argmin())]!r}"
        )
    return np.asarray(mass / mass.sum())


def log_odds(logits: Tensor) -> Tensor:
    """Return log(p/(1 − p)) of every class, p the softmax of the logits, (rows, classes).

    A logit alone does not rank rows, since a constant may be added to all logits of a row; the
    log-odds of its class do. Of the likeliest class 1 − p is the sum over the others, which does
    not cancel.
    """
    share = logits - logits.logsumexp(1, keepdim=True)
    top = logits.argmax(1, keepdim=True)
    rest = logits.scatter(1, top, -torch.inf).logsumexp(1, keepdim=True)
    is_top = torch.zeros_like(logits, dtype=torch.bool).scatter(1, top, True)
    # The log-odds of the others, whose p is at most a half; 0 in its place has a finite gradient.
    below = share.masked_fill(is_top, -1.0)
    others = below - torch.log1p(-below.exp())
    return torch.where(is_top, logits - rest, others)


def odds_of(logits: Floats) -> Vector:
    """Return :func:`log_odds` of an array."""
    found: Vector = log_odds(torch.from_numpy(np.asarray(logits, dtype=np.float64))).numpy()
    return found


@dataclass(frozen=True)
class ClassCalibrator:
    """One calibration per class, and the probabilities that they have together.

    q_c = calibration of class c at its score, p_c = q_c / Σ_b q_b.
    """

    parts: tuple[Calibrator, ...]

    @classmethod
    def learn(cls, kind: str | None, scores: Vector, part: Part) -> ClassCalibrator:
        """Fit the calibration of a kind to scores (rows, classes) of rows with known classes."""
        columns = enumerate(np.ascontiguousarray(scores.T))
        return cls(tuple(calibrate(kind, s, part.target == c, part.weight) for c, s in columns))

    def decision(self, scores: Vector) -> Vector:
        """Return the log-odds of q: rows are in the order of the scores, classes comparable."""
        pairs = zip(self.parts, scores.T, strict=True)
        return np.stack([_odds(each, column) for each, column in pairs], axis=1)

    def probability(self, scores: Vector) -> Vector:
        """Return the probabilities of the classes, (rows, classes)."""
        logs = -np.logaddexp(0, -self.decision(scores))
        found: Vector = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
        return found


def _odds(calibrator: Calibrator, scores: Vector) -> Vector:
    if not len(calibrator.knots):
        return calibrator.slope * scores + calibrator.intercept
    q = np.maximum(calibrator.probability(scores), _LEAST)
    rest = np.maximum(1 - q, np.finfo(float).eps)
    return np.asarray(np.log(q) - np.log(rest))


def class_value(name: str, scores: Floats, part: Part) -> float:
    """Compute a metric of several classes, by name; larger is better.

    A class without rows is left out of the mean.
    """
    found = class_metric(name)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "[0-9]+ of [0-9]+ classes have", RuntimeWarning)
        value = found.value(np.asarray(scores, np.float64), part.target, weight=part.weight)
    return float(value) if found.higher_is_better else -float(value)


def even_batches(
    target: Vector, batch_size: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Split the rows of an epoch into batches, each with about the shares of the classes.

    The rows of a class are spread evenly over the epoch, in random order.
    """
    place = np.empty(len(target))
    for value in np.unique(target):
        members = rng.permutation(np.flatnonzero(target == value))
        place[members] = (np.arange(len(members)) + rng.random()) / len(members)
    order = np.argsort(place, kind="stable")
    return np.split(order, range(batch_size, len(target), batch_size))
