"""Choose a threshold by a rule, on rows with known classes; with a guarantee on request."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankwise.metrics._binomial import (
    Floats,
    binomial_tail,
    largest_count,
    least_size,
    share_interval,
)
from rankwise.metrics._rules import Limit, require_limit
from rankwise.metrics.inputs import Array, read_items
from rankwise.metrics.intervals import Interval

ROUNDING = 1e-12
_STEP = 1.2  # between the numbers of flagged rows that a precision is tested at


@dataclass(frozen=True, eq=False)
class Levels:
    """Distinct scores from the highest down, with the mass of each class at or above them."""

    score: Floats
    true: Floats
    false: Floats
    plain: bool  # every row counts once
    sizes: tuple[float, float]  # positives and negatives as independent draws (Kish 1965)

    @classmethod
    def of(cls, scores: Floats, positive: NDArray[np.bool_], weight: Floats | None) -> Levels:
        """Return the levels of one list; rows of weight 0 are left out."""
        if weight is not None:
            present = weight > 0
            scores, positive, weight = scores[present], positive[present], weight[present]
        mass = np.ones(len(scores)) if weight is None else weight.astype(np.float64)
        levels, which = np.unique(-scores, return_inverse=True)
        true, false = (
            np.cumsum(np.bincount(which, np.where(each, mass, 0.0), len(levels)).astype(np.float64))
            for each in (positive, ~positive)
        )
        sizes = (_effective(mass[positive]), _effective(mass[~positive]))
        return cls(-levels, true, false, bool((mass == 1).all()), sizes)

    @property
    def flagged(self) -> Floats:
        """Mass at or above each score, of both classes."""
        return self.true + self.false

    def below(self, last: int) -> float:
        """Return a threshold between a level and the next: neither rounding nor ties decide."""
        if last < 0:
            return float(self.score[0])
        here = float(self.score[last])
        if last + 1 == len(self.score):
            spread = float(self.score[0] - self.score[-1])
            return here - (spread or 1.0)
        after = float(self.score[last + 1])
        middle = after + (here - after) / 2
        return middle if middle < here else after


def _effective(mass: Floats) -> float:
    squares = float((mass**2).sum())
    return float(mass.sum()) ** 2 / squares if squares > 0 else 0.0


@dataclass(frozen=True)
class OperatingPoint:
    """A threshold, the rule it was chosen by, and its rates on the rows that chose it.

    The rates are intervals: each has a ``value``, and ``low`` and ``high``, the exact 95 % interval
    of a share for a threshold that is given (Clopper and Pearson 1934).

    Attributes:
        rule: The rule as it was written.
        threshold: Rows with a score above it are flagged.
        supported: Whether the rows support the rule. If not, the threshold is the trivial one: no
            row is flagged, for a recall every row.
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
        """Return the same threshold with its rates on other rows, such as those of a test."""
        found = _read(scores, target, None, weight)
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
    levels = _read(scores, target, mask, weight)
    return choose(rule, limit, levels, rows_per_day)


def choose(
    rule: str, limit: Limit, levels: Levels, rows_per_day: float | None = None
) -> OperatingPoint:
    """Choose the threshold of a parsed rule."""
    if limit.confidence is None:
        last, reason = _plain(limit, levels, rows_per_day)
        return _point(rule, levels, last, levels.below(last), reason)
    if not levels.plain:
        raise ValueError(
            f"rule {rule!r} needs rows that count once each: weights are not independent rows; "
            "leave out the confidence or the weights"
        )
    last, threshold, reason = _certified(rule, limit, levels, rows_per_day)
    return _point(rule, levels, last, threshold, reason)


def _read(scores: Array, target: Array, mask: Array | None, weight: Array | None) -> Levels:
    items = read_items(scores, target, mask, None, weight).checked(graded=False)
    if items.scores.ndim != 1:
        raise ValueError(f"scores must be one list, got shape {tuple(items.scores.shape)}")
    given = None if items.weight is None else items.weight.double().cpu().numpy()
    positive = (items.target > 0).cpu().numpy()
    levels = Levels.of(items.scores.double().cpu().numpy(), positive, given)
    if not len(levels.score) or not (levels.true[-1] > 0 and levels.false[-1] > 0):
        raise ValueError("target must have both classes to choose a threshold by")
    return levels


def _point(rule: str, levels: Levels, last: int, threshold: float, reason: str) -> OperatingPoint:
    true, false = (float(mass[last]) if last >= 0 else 0.0 for mass in (levels.true, levels.false))
    totals = float(levels.true[-1]), float(levels.false[-1])
    return OperatingPoint(rule, threshold, not reason, reason, true, false, *totals, levels.sizes)


def _plain(limit: Limit, levels: Levels, rows_per_day: float | None) -> tuple[int, str]:
    """Return the last flagged level, −1 for none, where the limit holds on these rows."""
    true, false, flagged = levels.true, levels.false, levels.flagged
    if limit.kind == "f1":
        return int(np.argmax(2 * true / (flagged + true[-1]))), ""
    if limit.kind == "recall":
        return int(np.argmax(true >= (limit.value - ROUNDING) * true[-1])), ""
    reason = ""
    if limit.kind == "precision":
        precision = true / flagged
        allowed = precision >= limit.value - ROUNDING
        if not allowed.any():
            reason = (
                f"no threshold has the precision {limit.value:g} on these rows, the best has "
                f"{precision.max():.3g}"
            )
    elif limit.kind == "fpr":
        allowed = false <= (limit.value + ROUNDING) * false[-1]
    else:
        allowed = flagged <= (limit.share(rows_per_day) + ROUNDING) * flagged[-1]
    if not allowed.any():
        return -1, reason
    # The most found; of several such thresholds the highest, which has the fewest alarms.
    return int(np.argmax(np.where(allowed, true, -1.0))), ""


def _certified(
    rule: str, limit: Limit, levels: Levels, rows_per_day: float | None
) -> tuple[int, float, str]:
    """Return the last flagged level, the threshold and, where there is none, the reason."""
    assert limit.confidence is not None
    chance = 1 - limit.confidence
    if limit.kind == "precision":
        return _certified_precision(rule, limit.value, chance, levels)
    if limit.kind == "recall":
        n, share, what, mass = int(levels.true[-1]), limit.value, "positives", levels.true
        place = largest_count(n, 1 - share, limit.confidence)
        if place == 0:
            last = len(levels.score) - 1
            return last, levels.below(last), _too_few(rule, what, n, share, chance)
        # The place-th lowest positive is flagged, those below it are the misses.
        last = int(np.searchsorted(mass, n - place + 1))
        return last, levels.below(last), ""
    if limit.kind == "fpr":
        share, what, mass = limit.value, "negatives", levels.false
    else:
        share, what, mass = limit.share(rows_per_day), "rows", levels.flagged
        if share >= 1:
            last = len(levels.score) - 1
            return last, levels.below(last), ""
    n = int(mass[-1])
    place = largest_count(n, share, limit.confidence) if share > 0 else 0
    if place == 0:
        return -1, float(levels.score[0]), _too_few(rule, what, n, 1 - share, chance)
    # What is strictly above the place-th highest is flagged.
    edge = int(np.searchsorted(mass, place))
    return edge - 1, float(levels.score[edge]), ""


def _too_few(rule: str, what: str, n: int, share: float, chance: float) -> str:
    if share >= 1:
        return f"{rule} allows nothing: no row is flagged"
    return f"{rule} needs at least {least_size(share, chance)} {what}, got {n}"


def _certified_precision(
    rule: str, precision: float, chance: float, levels: Levels
) -> tuple[int, float, str]:
    """Test H: precision(t) < p at ranks that do not depend on the labels, strict to loose.

    Given the m-th highest score t, the rows above t are independent draws from those that t flags,
    so their positives are binomial with the precision of t. A rank m is fixed beforehand, so every
    test has its level, and the union of G tests that of Bonferroni.
    """
    n = int(levels.flagged[-1])
    ranks = _ranks(n, precision, chance)
    least = least_size(precision, chance / max(1, len(ranks)))
    if not len(ranks):
        return -1, float(levels.score[0]), _too_few(rule, "flagged rows", n, precision, chance)
    edge = np.searchsorted(levels.flagged, ranks)  # the level of the m-th highest score
    ranks_above = edge > 0
    above = np.maximum(edge - 1, 0)
    k = np.where(ranks_above, levels.true[above], 0.0)
    size = np.where(ranks_above, levels.flagged[above], 0.0)
    level = chance / len(ranks)
    chances = np.where(ranks_above, binomial_tail(k, size, precision), 1.0)
    passed = chances <= level
    if not passed.any():
        best = int(np.argmin(chances))
        reason = (
            f"{rule} needs a threshold whose precision is that high beyond chance; the best of "
            f"{len(ranks)} has {k[best]:.0f} positives among {size[best]:.0f} flagged rows. At "
            f"least {least} positives are needed, without a negative among them"
        )
        return -1, float(levels.score[0]), reason
    chosen = int(np.flatnonzero(passed)[-1])
    return int(above[chosen]), float(levels.score[edge[chosen]]), ""


def _ranks(n: int, precision: float, chance: float) -> Floats:
    """Return the ranks m to test at: m − 1 flagged rows, from the fewest that can pass up."""
    ranks: Floats = np.zeros(0)
    tests = 1
    for _ in range(10):  # more tests need more rows, which leaves fewer tests
        first = least_size(precision, chance / tests)
        count = max(0, math.floor(math.log(max(1, n - 1) / first) / math.log(_STEP)) + 1)
        ranks = np.unique(np.round(first * _STEP ** np.arange(count)) + 1)
        ranks = ranks[ranks <= n]
        if len(ranks) <= tests:
            break
        tests = len(ranks)
    return ranks
