"""Choose a threshold by a rule, on rows with known classes; with a guarantee on request."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rankwise.metrics._binomial import share_interval
from rankwise.metrics._levels import Levels, read_levels
from rankwise.metrics._rules import Limit, require_limit
from rankwise.metrics._threshold_rules import certified_level, plain_level
from rankwise.metrics.inputs import Array
from rankwise.metrics.intervals import Interval


@dataclass(frozen=True)
class OperatingPoint:
    """A threshold, the rule it was chosen by, and its rates on the rows that chose it.

    The rates are intervals: each has a ``value``, and ``low`` and ``high``, the exact 95 % interval
    of a share for a threshold that is given (Clopper and Pearson 1934).

    Attributes:
        rule: The rule as it was written.
        threshold: Rows with a score above it are flagged.
        supported: Whether the rows support the rule. If not, the threshold is beyond all of them:
            none is flagged, for a recall all are, and new rows have no guarantee.
        reason: Why the rows do not support the rule, and what would; empty if they do.
        true_positives, false_positives: Flagged rows of both classes, by weight.
        positives, negatives: All rows of both classes, by weight.
        sizes: Positives and negatives as numbers of independent rows, fewer where weights differ.

    Example:
        >>> from rankwise.metrics import choose_threshold
        >>> point = choose_threshold([0.9, 0.8, 0.3, 0.1], [1, 0, 1, 0], "recall>=0.9")
        >>> round(point.threshold, 2), round(point.precision.value, 3), point.recall.value
        (0.2, 0.667, 1.0)
    """

    rule: str
    threshold: float
    supported: bool
    reason: str
    true_positives: float
    false_positives: float
    positives: float
    negatives: float
    sizes: tuple[float, float]

    @property
    def flagged(self) -> float:
        """Number of flagged rows, by weight."""
        return self.true_positives + self.false_positives

    @property
    def precision(self) -> Interval:
        """Share of positives among the flagged rows; NaN where none is flagged."""
        rows = self.positives + self.negatives
        return _share(self.true_positives, self.flagged, sum(self.sizes) / rows if rows else 0.0)

    @property
    def recall(self) -> Interval:
        """Share of the positives that are flagged."""
        size = self.sizes[0] / self.positives if self.positives else 0.0
        return _share(self.true_positives, self.positives, size)

    @property
    def fpr(self) -> Interval:
        """Share of the negatives that are flagged."""
        size = self.sizes[1] / self.negatives if self.negatives else 0.0
        return _share(self.false_positives, self.negatives, size)

    @property
    def alert_rate(self) -> Interval:
        """Share of all rows that are flagged."""
        rows = self.positives + self.negatives
        return _share(self.flagged, rows, sum(self.sizes) / rows if rows else 0.0)

    def at(self, scores: Array, target: Array, *, weight: Array | None = None) -> OperatingPoint:
        """Return the same threshold with its rates on other rows, such as those of a test.

        A rate of a class that these rows do not have is NaN.
        """
        found = read_levels(scores, target, None, weight, both_classes=False)
        last = int((found.score > self.threshold).sum()) - 1
        return _point(self.rule, found, last, self.threshold, self.reason)


def _share(part: float, whole: float, size: float) -> Interval:
    """Return a share; ``size`` is how many independent rows a unit of mass is."""
    low, high = share_interval(part * size, whole * size)
    value = part / whole if whole else math.nan
    return Interval(value, float(low), float(high), 0.95, "clopper-pearson")


def choose_threshold(
    scores: Array,
    target: Array,
    rule: str,
    *,
    mask: Array | None = None,
    weight: Array | None = None,
    rows_per_day: float | None = None,
) -> OperatingPoint:
    """Choose a threshold by a rule, on rows that the model has not learned from.

    The rules are ``"recall>=0.9"`` (the highest threshold with this recall), ``"precision>=0.8"``,
    ``"fpr<=0.001"`` and ``"alerts<=200/day"`` (the highest recall within the limit; of thresholds
    with the same recall the highest), and ``"f1"`` (the highest F1). ``alerts<=200/10000`` allows
    200 alerts in 10 000 rows. Thresholds lie between distinct scores.

    **With a confidence**, such as ``"precision>=0.8@95%"``, the rate of *new* rows from the same
    distribution is within the limit with this probability, over draws of the rows given. That needs
    rows that are independent of each other and of everything that the model was made from. The
    limits of recall, false positive rate and alerts are order statistics, of which the share beyond
    is known exactly (Wilks 1941). A precision is tested at numbers of flagged rows that grow by a
    fifth, each by the exact binomial test at the level (1 − confidence)/tests (Bonferroni); the
    lowest threshold that passes is taken. Alerts per day hold on average, not for each day.

    Args:
        scores: Scores of one list, higher for positives.
        target: 0 and 1 of the same shape.
        rule: The rule.
        mask, weight: See :mod:`rankwise.metrics`. A confidence needs weights of 1.
        rows_per_day: Number of rows of a day, for ``alerts<=…/day``.

    Returns:
        The threshold with its rates on these rows; :meth:`OperatingPoint.at` has those on others.

    Raises:
        ValueError: The rule is not one of these, or needs what is not given; there are not both
            classes; or the weights do not allow a confidence.

    Example:
        >>> import torch
        >>> from rankwise.metrics import choose_threshold
        >>> generator = torch.Generator().manual_seed(0)
        >>> target = torch.rand(5_000, generator=generator) < 0.1
        >>> scores = torch.randn(5_000, generator=generator) + 3 * target
        >>> plain = choose_threshold(scores, target, "precision>=0.8")
        >>> sure = choose_threshold(scores, target, "precision>=0.8@95%")
        >>> sure.supported, sure.threshold > plain.threshold  # some recall is the price
        (True, True)
        >>> choose_threshold(scores[:100], target[:100], "recall>=0.9@95%").reason
        'recall>=0.9@95% needs at least 29 positives, got 9'

    Reference:
        Angelopoulos, Bates, Candès, Jordan and Lei 2021, "Learn then Test: Calibrating Predictive
        Algorithms to Achieve Risk Control".
    """
    limit = require_limit(rule)
    levels = read_levels(scores, target, mask, weight)
    return choose(rule, limit, levels, rows_per_day)


def choose(
    rule: str, limit: Limit, levels: Levels, rows_per_day: float | None = None
) -> OperatingPoint:
    """Choose the threshold of a parsed rule."""
    if limit.confidence is None:
        last, reason = plain_level(limit, levels, rows_per_day)
        return _point(rule, levels, last, levels.below(last), reason)
    if not levels.plain:
        raise ValueError(
            f"rule {rule!r} needs rows that count once each: weights are not independent rows; "
            "leave out the confidence or the weights"
        )
    last, threshold, reason = certified_level(rule, limit, levels, rows_per_day)
    return _point(rule, levels, last, threshold, reason)


def _point(rule: str, levels: Levels, last: int, threshold: float, reason: str) -> OperatingPoint:
    true, false = (float(mass[last]) if last >= 0 else 0.0 for mass in (levels.true, levels.false))
    totals = float(levels.true[-1]), float(levels.false[-1])
    return OperatingPoint(rule, threshold, not reason, reason, true, false, *totals, levels.sizes)
