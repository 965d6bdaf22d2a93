"""Where a rule puts its threshold among the levels of a list, with a guarantee or without one."""

from __future__ import annotations

import math

import numpy as np

from rankwise.metrics._binomial import Floats, binomial_tail, largest_count, least_size
from rankwise.metrics._levels import Levels
from rankwise.metrics._rules import Limit

_ROUNDING = 1e-12
_STEP = 1.2  # between the numbers of flagged rows that a precision is tested at


def plain_level(limit: Limit, levels: Levels, rows_per_day: float | None) -> tuple[int, str]:
    """Return the last flagged level, −1 for none, where the limit holds on these rows."""
    true, false, flagged = levels.true, levels.false, levels.flagged
    if limit.kind == "f1":
        return int(np.argmax(2 * true / (flagged + true[-1]))), ""
    if limit.kind == "recall":
        return int(np.argmax(true >= (limit.value - _ROUNDING) * true[-1])), ""
    reason = ""
    if limit.kind == "precision":
        precision = true / flagged
        allowed = precision >= limit.value - _ROUNDING
        if not allowed.any():
            reason = (
                f"no threshold has the precision {limit.value:g} on these rows, the best has "
                f"{precision.max():.3g}"
            )
    elif limit.kind == "fpr":
        allowed = false <= (limit.value + _ROUNDING) * false[-1]
    else:
        allowed = flagged <= (limit.share(rows_per_day) + _ROUNDING) * flagged[-1]
    if not allowed.any():
        return -1, reason
    # The most found; of several such thresholds the highest, which has the fewest alarms.
    return int(np.argmax(np.where(allowed, true, -1.0))), ""


def certified_level(
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
        return f"{rule} allows nothing"
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
    ranks = ranks_to_test(n, precision, chance)
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


def ranks_to_test(n: int, precision: float, chance: float) -> Floats:
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
