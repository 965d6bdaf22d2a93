"""What is found among the first k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise.report.comparison.measured.levels import Levels

__all__ = ["Found", "found_at", "places"]

_SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True)
class Found:
    """The first k of a ranking; tied scores count by their mean over all orders."""

    k: float
    positives: float
    precision: float
    recall: float
    lift: float


def places(levels: Levels) -> list[float]:
    """The k that a table shows: shares of the data, as whole numbers, without repeats."""
    total = float(levels.flagged[-1])
    return sorted({float(k) for share in _SHARES if 1 <= (k := round(share * total)) < total})


def found_at(levels: Levels, k: float) -> Found:
    """What is found among the first k."""
    flagged, positives = np.append(0.0, levels.flagged), np.append(0.0, levels.positives)
    found = float(np.interp(k, flagged, positives))
    precision = found / k
    return Found(k, found, precision, found / float(positives[-1]), precision / levels.prior)
