"""Numbers and names as the report shows them."""

from __future__ import annotations

import math
from collections.abc import Callable

from rankwise._grammar import parse
from rankwise.naming.table import find_metric
from rankwise.report.comparison.run import Estimate

NOTHING = "–"
_THIN = "\u202f"  # between thousands

_FULL = {
    "ap": "average precision",
    "auc": "area under the ROC curve",
    "auroc": "area under the ROC curve",
    "mrr": "mean reciprocal rank",
}


def capitalized(words: str) -> str:
    """Return words with a capital first letter; the others stay as they are."""
    return words[:1].upper() + words[1:]


def decimal(value: float, digits: int = 3, sign: str = "") -> str:
    """Format a value of a metric."""
    return NOTHING if math.isnan(value) else f"{value:{sign}.{digits}f}".replace("-", "−")


def signed(value: float) -> str:
    """Format a difference, with its sign."""
    return decimal(value, sign="+")


def count(value: float) -> str:
    """Format a count, with one decimal where weights make fractions."""
    if math.isnan(value):
        return NOTHING
    digits = 0 if abs(value - round(value)) < 1e-9 else 1
    return f"{value:,.{digits}f}".replace(",", _THIN)


def counted(value: float, noun: str) -> str:
    """Format a count with its noun: ``"1 trial"``, ``"24 trials"``."""
    return f"{count(value)} {noun}{'' if value == 1 else 's'}"


def percent(share: float) -> str:
    """Format a share in percent, with the digits that matter."""
    if math.isnan(share):
        return NOTHING
    value = 100 * share
    digits = 0 if value >= 99.95 or value == 0 else 1 if value >= 1 else 2
    return f"{value:.{digits}f}{_THIN}%"


def duration(seconds: float) -> str:
    """Format a time in seconds, minutes or hours."""
    if math.isnan(seconds):
        return NOTHING
    if seconds < 10:
        return f"{seconds:.1f}{_THIN}s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60}{_THIN}h {minutes % 60:02d}{_THIN}min"
    return f"{minutes}{_THIN}min {rest:02d}{_THIN}s" if minutes else f"{rest}{_THIN}s"


def between(known: Estimate, written: Callable[[float], str] = decimal, dash: str = " to ") -> str:
    """Return an interval, empty where it is not known."""
    return f"{written(known.low)}{dash}{written(known.high)}" if known.has_interval else ""


def p_value(p: float) -> str:
    """Format a p-value; below 0.001 no digits are shown."""
    if math.isnan(p):
        return NOTHING
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def full_name(metric: str) -> str:
    """Return the full name of a metric: ``"ap"`` is average precision."""
    return _FULL.get(metric, metric.replace("ndcg", "NDCG"))


def meaning(metric: str) -> str:
    """Return a short description of a metric; empty for an unknown one."""
    try:
        return find_metric(parse(metric)).what
    except ValueError:
        return ""
