"""Thresholds: rules that decide which rows are positive, and their scores on rows held out."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from rankwise.estimators._calibration import Calibrator
from rankwise.estimators.data import Vector

_ROUNDING = 1e-12
_HOW = "use 'f1', 'precision>=0.9', 'fpr<=0.05', 'top=100' or a probability such as 0.5"
_SHAPES = (
    (re.compile(r"(precision)\s*>=\s*([0-9.eE+-]+)"), 0.0, 1.0),
    (re.compile(r"(fpr)\s*<=\s*([0-9.eE+-]+)"), 0.0, 1.0),
    (re.compile(r"(top)\s*=\s*([0-9]+)"), 1.0, np.inf),
)


@dataclass(frozen=True)
class Rule:
    """A rule of a kind (f1, precision, fpr, top, probability) and its number."""

    kind: str
    value: float = 0.0

    def score(
        self, scores: Vector, positive: NDArray[np.bool_], weight: Vector | None, by: Calibrator
    ) -> float:
        """Return the score above which a row is positive, chosen on rows with known classes.

        It lies in the middle between two scores of these rows, so that neither rounding nor ties
        decide. ``top`` depends on the rows that are predicted and takes none: 0.
        """
        if self.kind == "top":
            return 0.0
        if self.kind == "probability":
            return by.score(self.value)
        weight = np.ones(len(scores)) if weight is None else weight
        levels, which = np.unique(-scores, return_inverse=True)
        levels = -levels  # from the highest score down
        found = np.cumsum(np.bincount(which, weight * positive, len(levels)))
        alarms = np.cumsum(np.bincount(which, weight * ~positive, len(levels)))
        if self.kind == "f1":
            return _below(levels, int(np.argmax(2 * found / (found + alarms + found[-1]))))
        if self.kind == "precision":
            precision = found / (found + alarms)
            allowed = precision >= self.value - _ROUNDING
            if not allowed.any():
                warnings.warn(
                    f"no threshold has the precision {self.value} on the rows held out, the best "
                    f"has {precision.max():.3g}: only rows above all of them will be positive",
                    UserWarning,
                    stacklevel=3,
                )
        else:
            allowed = alarms <= (self.value + _ROUNDING) * alarms[-1]
        if not allowed.any():
            return float(levels[0])
        # The most found; of several such thresholds the highest, which has the fewest alarms.
        return _below(levels, int(np.argmax(np.where(allowed, found, -1.0))))

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
    if isinstance(rule, Real) and not isinstance(rule, bool):
        return _probability(float(rule))
    if not isinstance(rule, str):
        raise ValueError(f"threshold must be a rule or a number, got {rule!r}; {_HOW}")
    text = rule.strip().lower()
    if text == "f1":
        return Rule("f1")
    for shape, low, high in _SHAPES:
        match = shape.fullmatch(text)
        if match:
            value = _number(match[2], rule)
            if not low <= value <= high:
                raise ValueError(f"threshold {rule!r} must have a number in [{low:g}, {high:g}]")
            return Rule(match[1], value)
    return _probability(_number(text, rule))


def _number(text: str, rule: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"threshold {rule!r} is not a rule; {_HOW}") from None


def _probability(value: float) -> Rule:
    if not 0 < value < 1:
        raise ValueError(f"threshold as a probability must lie between 0 and 1, got {value!r}")
    return Rule("probability", value)


def _below(levels: Vector, last: int) -> float:
    """Return a threshold between the last positive level and the next."""
    here = float(levels[last])
    if last + 1 == len(levels):
        spread = float(levels[0] - levels[-1])
        return here - (spread or 1.0)
    after = float(levels[last + 1])
    middle = after + (here - after) / 2
    return middle if middle < here else after
