"""Numbers and names as a reader is shown them."""

from __future__ import annotations

import math

from rankwise.naming.grammar import parse
from rankwise.naming.table import find_metric

NOTHING = "–"
_THIN = "\u202f"  # between thousands

_FULL = {
    "ap": "average precision",
    "auc": "area under the ROC curve",
    "auroc": "area under the ROC curve",
    "mrr": "mean reciprocal rank",
}


def capitalized(words: str) -> str:
    """The first letter as at the start of a sentence, the others as they are."""
    return words[:1].upper() + words[1:]


def decimal(value: float, digits: int = 3) -> str:
    """A value of a metric."""
    return NOTHING if math.isnan(value) else f"{value:.{digits}f}".replace("-", "−")


def signed(value: float, digits: int = 3) -> str:
    """A difference, with its sign."""
    return NOTHING if math.isnan(value) else f"{value:+.{digits}f}".replace("-", "−")


def count(value: float) -> str:
    """How many, whole where it is whole; weights make fractions."""
    if math.isnan(value):
        return NOTHING
    whole = abs(value - round(value)) < 1e-9
    return (f"{value:,.0f}" if whole else f"{value:,.1f}").replace(",", _THIN)


def counted(value: float, noun: str) -> str:
    """How many of what: ``"1 trial"``, ``"24 trials"``."""
    return f"{count(value)} {noun}{'' if value == 1 else 's'}"


def percent(share: float) -> str:
    """A share, with as many digits as say something."""
    if math.isnan(share):
        return NOTHING
    value = 100 * share
    digits = 0 if value >= 99.95 or value == 0 else 1 if value >= 1 else 2
    return f"{value:.{digits}f}{_THIN}%"


def duration(seconds: float) -> str:
    """A time as one says it."""
    if math.isnan(seconds):
        return NOTHING
    if seconds < 10:
        return f"{seconds:.1f}{_THIN}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}{_THIN}s"
    if whole < 3600:
        return f"{whole // 60}{_THIN}min {whole % 60:02d}{_THIN}s"
    return f"{whole // 3600}{_THIN}h {whole % 3600 // 60:02d}{_THIN}min"


def p_value(p: float) -> str:
    """A p-value; the very small ones are not told apart."""
    if math.isnan(p):
        return NOTHING
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def full_name(metric: str) -> str:
    """A metric in words: ``"ap"`` is average precision; most others are known by their letters."""
    return _FULL.get(metric, metric.replace("ndcg", "NDCG"))


def meaning(metric: str) -> str:
    """What a metric is, in half a sentence; empty for one that is not ours."""
    try:
        return find_metric(parse(metric)).what
    except ValueError:
        return ""
