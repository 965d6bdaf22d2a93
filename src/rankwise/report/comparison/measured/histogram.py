"""How scores are spread, for each class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise.report.comparison.measured.levels import Floats

__all__ = ["ClassHistogram", "histogram_of", "unit_range"]

BARS = 40
_OUTER = 0.001  # of each class beyond the outermost bars at most


@dataclass(frozen=True)
class ClassHistogram:
    """Shares of each class between edges; what lies beyond the edges is in the outer bars."""

    edges: Floats
    positives: Floats
    negatives: Floats


def histogram_of(scores: Floats, target: Floats, weight: Floats) -> ClassHistogram:
    """Both classes over the same bars."""
    classes = [target == 1, target != 1]
    finite = np.where(np.isfinite(scores), scores, np.nan)
    outer = np.concatenate([_quantiles(finite[at]) for at in classes])
    low, high = float(np.nanmin(outer)), float(np.nanmax(outer))
    if not low < high:
        low, high = low - 0.5, low + 0.5
    edges = np.linspace(low, high, BARS + 1)
    inside = np.clip(scores, low, high)
    shares = []
    for at in classes:
        bars, _ = np.histogram(inside[at], edges, weights=weight[at])
        shares.append(bars / weight[at].sum())
    return ClassHistogram(edges, *shares)


def unit_range(scores: Floats) -> Floats:
    """Scores from 0 to 1, the order kept; infinite ones stand at the ends."""
    finite = scores[np.isfinite(scores)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    if not low < high:
        return np.where(scores > high, 1.0, np.where(scores < low, 0.0, 0.5))
    moved: Floats = np.clip((scores / 2 - low / 2) / (high / 2 - low / 2), 0.0, 1.0)
    return moved


def _quantiles(values: Floats) -> Floats:
    known = values[~np.isnan(values)]
    found: Floats = np.quantile(known, [_OUTER, 1 - _OUTER]) if len(known) else np.zeros(2)
    return found
