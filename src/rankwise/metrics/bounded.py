"""Confidence intervals of metrics from a histogram: any number of items in bounded memory."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rankwise.checks import require_count
from rankwise.metrics._refinement import MOST_ITEMS, refine
from rankwise.metrics.confidence import intervals_of_cells
from rankwise.metrics.histogram import ScoreHistogram
from rankwise.metrics.inputs import Array, Ties
from rankwise.metrics.intervals import Interval, normal_quantile
from rankwise.metrics.metric import Metric

_EXACT = 1e-9


@dataclass(frozen=True)
class BoundedInterval(Interval):
    """A value that is known up to hard bounds, with a confidence interval.

    Attributes:
        value: Middle of the bounds.
        low, high: Ends of the confidence interval, which contains the bounds.
        level: Confidence level, such as 0.95.
        method: How the interval was computed: ``"bootstrap"`` or ``"influence"``.
        lowest, highest: The least and the greatest value that the metric can have.

    Example:
        >>> from rankwise.metrics import Metric, ScoreHistogram, auroc, bounded_intervals
        >>> histogram = ScoreHistogram()
        >>> histogram.add([0.9, 0.8, 0.3, 0.1], [1, 0, 1, 0])
        >>> (found,) = bounded_intervals([Metric(auroc)], histogram)
        >>> round(found.lowest, 4), round(found.highest, 4), found.is_exact
        (0.75, 0.75, True)
    """

    lowest: float
    highest: float

    @property
    def is_exact(self) -> bool:
        """Whether the bounds are the same number, up to 10⁻⁹."""
        return not self.highest - self.lowest > _EXACT


def bounded_intervals(
    metrics: Sequence[Metric],
    histogram: ScoreHistogram,
    parts: Iterable[tuple[Array, Array]] | None = None,
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    max_items: int = MOST_ITEMS,
) -> list[BoundedInterval]:
    """Compute metrics with hard bounds and confidence intervals from a histogram.

    The intervals are those of :func:`confidence_intervals`, by the bootstrap or by the
    infinitesimal jackknife, from the order of the first 2²⁰ positives and the buckets of the
    others. Where the bounds of a value do not meet, its interval reaches from the least value by
    its error to the greatest.

    Args:
        metrics: Metrics of two classes with their options; their state is not used.
        histogram: Counts of all items.
        parts: The scores and targets that were added, to read again: the values are exact. Without
            them there are bounds. See :meth:`ScoreHistogram.refine`.
        level: Confidence level.
        resamples: Number of bootstrap resamples.
        seed: Seed of the resamples.
        max_items: Maximum number of items in memory: 4 bytes each for float32 scores, else 8.

    Returns:
        One value per metric with its bounds and its interval; NaN where one class is missing.

    Raises:
        ValueError: A metric takes relevances, or the parts are not the items that were added.

    Example:
        >>> import numpy as np
        >>> from rankwise.metrics import Metric, ScoreHistogram, auroc, bounded_intervals
        >>> rng = np.random.default_rng(0)
        >>> target = rng.random(20_000) < 0.1
        >>> parts = [((rng.standard_normal(20_000) + target).astype(np.float32), target)]
        >>> histogram = ScoreHistogram()
        >>> for scores, target in parts:
        ...     histogram.add(scores, target)
        >>> bounded_intervals([Metric(auroc)], histogram)[0].is_exact
        False
        >>> bounded_intervals([Metric(auroc)], histogram, parts)[0].is_exact
        True
    """
    normal_quantile(level)
    require_count("resamples", resamples)
    known = [histogram.bounds(metric) for metric in metrics]  # raises for relevances
    if not histogram.counts.sum(1).all():
        undefined = (math.nan,) * 3
        return [BoundedInterval(*undefined, level, "influence", *each) for each in known]
    settings = [metric.setting for metric in metrics]
    refined = refine(histogram.counts, histogram.bits, parts, settings, max_items)
    n_negatives = int(histogram.counts[0].sum())
    found: dict[int, Interval] = {}
    ties: Ties
    for ties in ("standard", "against"):
        places = [place for place, setting in enumerate(settings) if setting.ties == ties]
        if places:
            cells = refined.levels.cells(n_negatives, ties)
            some = [settings[place] for place in places]
            found |= zip(
                places, intervals_of_cells(some, cells, level, resamples, seed), strict=True
            )
    return [
        _around(found[place], setting.kernel.least, *refined.bounds[place])
        for place, setting in enumerate(settings)
    ]


def _around(interval: Interval, least: float, lowest: float, highest: float) -> BoundedInterval:
    """Return an interval that reaches as far from the bounds as it did from its value."""
    low = max(least, lowest - (interval.value - interval.low))
    high = min(1.0, highest + (interval.high - interval.value))
    middle = (lowest + highest) / 2
    return BoundedInterval(middle, low, high, interval.level, interval.method, lowest, highest)
