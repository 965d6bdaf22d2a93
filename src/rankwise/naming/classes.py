"""Metrics of several classes by name."""

from __future__ import annotations

from dataclasses import replace

from rankwise._grammar import Spec, canonical
from rankwise.metrics import ClassMetric
from rankwise.naming.lookup import canonical_metric, metric
from rankwise.naming.table import read

_HAND_TILL = ("mauc", "multiclassauc")


def class_metric(name: str) -> ClassMetric:
    """Return the metric of several classes of a name.

    Every metric of two classes has one: the mean over the classes, each against the rest. The
    options ``average=weighted`` and, for the AUC, ``scheme=ovo`` are those of
    :class:`~rankwise.metrics.ClassMetric`. ``mauc`` is the measure of Hand and Till,
    ``auc(scheme=ovo)``.

    Args:
        name: Name such as ``"ap"``, ``"ap(average=weighted)"``, ``"auc(scheme=ovo)"`` or
            ``"opauc(max_fpr=.1)"``.

    Returns:
        The metric; ``class_metric(name).value(scores, target)`` is its value.

    Raises:
        ValueError: For an unknown name or option, or a metric that is not one of two classes.

    Example:
        >>> from rankwise.naming import class_metric
        >>> class_metric("mauc"), class_metric("opauc(max_fpr=.1)")
        (auc(scheme='ovo'), opauc(max_fpr=0.1))
    """
    inner, own = _split(name)
    found = metric(str(inner))
    return ClassMetric(found.metric, **own, **found.options)  # type: ignore[arg-type]


def canonical_class_metric(name: str) -> str:
    """Return the name of rankwise for a metric of several classes, under which results are shown.

    Args:
        name: Name or alias of a metric.

    Returns:
        The canonical name.

    Example:
        >>> from rankwise.naming import canonical_class_metric
        >>> canonical_class_metric("mauc"), canonical_class_metric("average_precision")
        ('auc(scheme=ovo)', 'ap')
    """
    class_metric(name)
    inner, own = _split(name)
    spec = read(canonical_metric(str(inner)))
    return str(replace(spec, options={**spec.options, **own}))


def inner_metric(name: str) -> str:
    """Return the metric of two classes that one of several is a mean of."""
    return str(_split(name)[0])


def _split(name: str) -> tuple[Spec, dict[str, str]]:
    """Return the name of the metric of two classes, and the options of several."""
    spec = read(name)
    known = spec.options
    own: dict[str, str] = {n: str(known[n]) for n in ("scheme", "average") if n in known}
    if canonical(spec.name) in _HAND_TILL:
        spec, own = replace(spec, name="auc"), {"scheme": "ovo"} | own
    rest = {n: value for n, value in spec.options.items() if n not in own}
    return replace(spec, options=rest), own
