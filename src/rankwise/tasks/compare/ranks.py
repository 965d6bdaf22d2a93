"""Scores of different models on one scale: where they stand among the rows of the training."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["apply_ranks", "rank_knots"]

Floats = NDArray[np.float64]

_KNOTS = 2048  # on either side of the middle


def rank_knots(scores: Floats) -> Floats:
    """(2, knots): scores of a reference, ascending, and the log-odds of their ranks.

    A score that is above the share p of the reference has the log-odds log(p/(1 − p)), so that
    the first hundred rows of a million are told apart as well as the first hundred of a thousand.
    Large references keep every rank near the ends and some in the middle.
    """
    ordered, counts = np.unique(scores, return_counts=True)
    through = np.cumsum(counts)
    share = (through - counts / 2) / through[-1]
    odds = np.log(share) - np.log1p(-share)
    if len(ordered) > 2 * _KNOTS:
        spaced = np.linspace(odds[0], odds[-1], 2 * _KNOTS)
        kept = np.unique(np.searchsorted(odds, spaced).clip(max=len(odds) - 1))
        ordered, odds = ordered[kept], odds[kept]
    return np.stack([ordered, odds])


def apply_ranks(knots: Floats, scores: Floats) -> Floats:
    """Log-odds of the ranks that scores would have had in the reference.

    Between two scores of the reference the line between them; beyond its ends the mean slope, so
    that no two scores become equal.
    """
    known, odds = knots
    width = known[-1] - known[0]
    slope = (odds[-1] - odds[0]) / width if width > 0 else 1.0
    beyond = scores - np.clip(scores, known[0], known[-1])
    inside: Floats = np.interp(scores, known, odds)
    return inside + beyond * max(slope, np.finfo(float).tiny)
