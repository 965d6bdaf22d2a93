"""Numbers and names as the report shows them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from rankwise._grammar import parse
from rankwise.naming.rows import BASELINES
from rankwise.naming.table import find_metric, find_objective

if TYPE_CHECKING:
    from rankwise.report.comparison.run import Estimate

NOTHING = "–"
_THIN = "\u202f"  # between thousands

_FULL = {
    "ap": "average precision",
    "auprc": "average precision",
    "auprg": "area under the precision–recall–gain curve",
    "auc": "area under the ROC curve",
    "auroc": "area under the ROC curve",
    "opauc": "partial area under the ROC curve",
    "tpauc": "two-way partial area under the ROC curve",
    "ndcg": "NDCG",
    "pap": "pAp",
    "mrr": "mean reciprocal rank",
    "r_precision": "R-precision",
    "precision": "precision",
    "recall": "recall",
    "hit": "hit",
    "precision_at_recall": "precision at a recall",
    "recall_at_precision": "recall at a precision",
    "tpr_at_fpr": "true positive rate at a false positive rate",
    "fpr_at_tpr": "false positive rate at a true positive rate",
    "err": "expected reciprocal rank",
    "rbp": "rank-biased precision",
    "inst": "INST",
    "pu_auc": "area under the ROC curve from positives and unlabeled items",
    "pu_ap": "average precision from positives and unlabeled items",
    "infap": "inferred average precision",
}
_MODELS = {
    "linear": "Linear model",
    "boosted": "Gradient boosting",
    "neural": "Neural network",
}
_SEVERAL = {
    "linear": "linear models",
    "boosted": "gradient boosting models",
    "neural": "neural networks",
}
_ARTICLES = {"Linear": "a ", "Neural": "a ", "Mean": "the "}


def capitalized(words: str) -> str:
    """Return words with a capital first letter; the others stay as they are."""
    return words[:1].upper() + words[1:]


def decimal(value: float, digits: int = 3, sign: str = "") -> str:
    """Format a value of a metric."""
    return NOTHING if math.isnan(value) else f"{value:{sign or 'z'}.{digits}f}".replace("-", "−")


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
    name = re.match(r"\w*", metric)[0]  # type: ignore[index]
    return f"{_FULL.get(name, name)}{metric[len(name) :].replace('(', ' (')}"


def candidate_title(name: str) -> str:
    """Return the words for the short name of a candidate of ``rankwise compare``.

    >>> candidate_title("boosted, ap")
    'Gradient boosting, trained on average precision'
    >>> candidate_title("linear, log-loss + ndcg@10")
    'Mean of two linear models, trained on log-loss and on NDCG@10'
    """
    model, _, objective = name.partition(", ")
    if model not in _MODELS or not objective:
        return name
    objective, second, _ = objective.partition(", second fit")
    if objective == "two log-losses":
        return f"Mean of two {_SEVERAL[model]}, trained on log-loss"
    parts = objective.split(" + ")
    words = " and on ".join(map(_trained_on, parts))
    what = _MODELS[model] if len(parts) == 1 else f"Mean of two {_SEVERAL[model]}"
    return f"{what}, trained on {words}{second}"


def in_sentence(title: str) -> str:
    """Return the title of a candidate as part of a sentence.

    >>> in_sentence("Gradient boosting, trained on average precision")
    'gradient boosting trained on average precision'
    """
    article = next((_ARTICLES[word] for word in _ARTICLES if title.startswith(f"{word} ")), "")
    return f"{article}{title[:1].lower()}{title[1:]}".replace(", ", " ", 1)


def subject(title: str) -> str:
    """Return the title of a candidate as the subject that begins a sentence.

    >>> subject("Linear model, trained on log-loss")
    'A linear model trained on log-loss'
    """
    return capitalized(in_sentence(title)) if ", trained on " in title else title


def _trained_on(objective: str) -> str:
    """Return the metric of an objective, with the objective where it has a name of its own."""
    try:
        spec = parse(objective)
        entry = find_objective(spec)
    except ValueError:
        return objective
    called = entry.path.partition(":")[2]
    known = called.lower() == spec.name.replace("_", "").lower()
    own = objective.replace(spec.name, called, 1) if known else objective
    if entry in BASELINES or entry.metric is None or not entry.names_metric:
        return own
    plain = spec.name in _FULL
    words = full_name(objective if plain else entry.metric.partition("(")[0])
    article = "the " if "area" in words else ""
    return f"{article}{words}" if plain else f"{article}{words} by {own}"


def meaning(metric: str) -> str:
    """Return a short description of a metric; empty for an unknown one.

    >>> meaning("ap")
    'the mean precision at the score of each positive'
    """
    try:
        what = find_metric(parse(metric)).what
    except ValueError:
        return ""
    return what if "@" in metric else what.partition("; @k:")[0]  # @k: is of metrics with a k
