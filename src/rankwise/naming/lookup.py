"""Objectives and metrics by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from rankwise._grammar import Spec, parse
from rankwise.metrics import Metric
from rankwise.naming.entry import FACTS, MetricEntry, ObjectiveEntry, load
from rankwise.naming.signatures import Signature, bind, made, require_given, signature_of
from rankwise.naming.table import find_metric, find_objective, read, resolve


def objective(
    name: str,
    *,
    prior: float | Tensor | None = None,
    num_items: int | None = None,
    num_lists: int | None = None,
) -> nn.Module:
    """Return the objective of a name.

    The grammar and all names are in docs/naming.md; the command ``rankwise objectives`` lists them.
    The ``repr`` of an objective is a name, too. ``prior``, ``num_items`` and ``num_lists`` describe
    the data set: an objective takes those it needs and ignores the others, so that a caller may
    pass them for any name. Options in the name come first.

    Args:
        name: Name such as ``"auc"``, ``"opauc(max_fpr=.1)"`` or ``"ndcg@10"``.
        prior: Share of positives in the data set, a number or one per list.
        num_items: Number of items of the data set.
        num_lists: Number of lists (queries, users or classes) of the data set.

    Returns:
        The objective.

    Raises:
        ValueError: For an unknown name or option, with the nearest one, or for a missing fact.

    Example:
        >>> from rankwise import objective
        >>> objective("opauc(max_fpr=.1)")
        PartialAUC(max_fpr=0.1)
    """
    facts = {"prior": prior, "num_items": num_items, "num_lists": num_lists}
    return _made(read(name), {fact: value for fact, value in facts.items() if value is not None})


def signature_of_objective(entry: ObjectiveEntry) -> Signature:
    """Return the options of the class of an entry."""
    made_by = load(entry)
    if inspect.isclass(made_by):
        # Of __init__, not of the class: what its __new__ takes would hide them.
        made_by = made_by.__init__
    return signature_of("objective", entry.names[0], made_by, at=entry.at, without=entry.fixed)


def canonical_objective(name: str) -> str:
    """Return the name of rankwise for an objective, under which results are shown.

    Args:
        name: Name or alias of an objective.

    Returns:
        The canonical name.

    Example:
        >>> from rankwise.naming import canonical_objective
        >>> canonical_objective("average_precision"), canonical_objective("auroc")
        ('ap', 'auc')
    """
    return _canonical(name, find_objective)


def _canonical(name: str, find: Callable[[Spec], ObjectiveEntry | MetricEntry]) -> str:
    """Return a name as typed if it is the first one of its entry, else rewritten."""
    spec = read(name)
    first = find(spec).names[0]
    as_typed = parse(name) == spec and spec.name == first
    return name.strip() if as_typed else str(replace(spec, name=first))


def _made(spec: Spec, facts: dict[str, Any]) -> nn.Module:
    spec = resolve(spec)
    entry = find_objective(spec)
    signature = signature_of_objective(entry)
    named = bind(signature, spec)
    wanted = [fact for fact in entry.facts_for(named) if fact not in named]
    known = {fact: facts[fact] for fact in wanted if fact in facts}
    known_facts = {fact: FACTS[fact] for fact in entry.facts}
    require_given(signature, {*named, *known}, needs=entry.needs, facts=known_facts)
    try:
        options = made({**entry.fixed, **named}, signature, lambda inner: _made(inner, facts))
        module = load(entry)(**options, **known)
    except TypeError as error:  # a number where a pair was wanted, or None where a number was
        raise ValueError(f"{signature.title} does not accept {spec}: {error}") from error
    if not isinstance(module, nn.Module):
        raise ValueError(f"{signature.title} must be an nn.Module, got {type(module).__name__}")
    return module


_DATA = ("scores", "target", "mask", "groups", "weight")


def metric(name: str) -> Metric:
    """Return the accumulating metric of a name.

    The names are in docs/naming.md; the ``repr`` of a metric is a name, too.

    Args:
        name: Name such as ``"ap"``, ``"opauc(max_fpr=.1)"`` or ``"ndcg@10"``.

    Returns:
        The metric; ``metric(name).value(scores, target)`` is its value for one set of scores.

    Raises:
        ValueError: For an unknown name or option, with the nearest one.

    Example:
        >>> import torch
        >>> from rankwise import metric
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> metric("precision@2").value(scores, target).item()  # 1 of the first 2
        0.5
    """
    spec = read(name)
    entry = find_metric(spec)
    signature = _signature(entry)
    given = bind(signature, spec)
    require_given(signature, given)
    options = made(given, signature)
    try:
        return Metric(load(entry), **options)
    except (TypeError, ValueError) as error:  # TypeError: a list where a number was wanted
        raise ValueError(f"{signature.title} does not accept {spec}: {error}") from error


def metric_of(objective: str) -> str:
    """Return the name of the metric of an objective, with the options that both have.

    Args:
        objective: Name of an objective.

    Returns:
        The name of its metric.

    Example:
        >>> from rankwise.naming import metric_of
        >>> metric_of("opauc(max_fpr=.1, form=kl)")
        'opauc(max_fpr=0.1)'
    """
    return str(_metric_of(read(objective)))


def canonical_metric(name: str) -> str:
    """Return the name of rankwise for a metric, under which results are shown.

    Args:
        name: Name or alias of a metric.

    Returns:
        The canonical name.

    Example:
        >>> from rankwise.naming import canonical_metric
        >>> canonical_metric("P_5"), canonical_metric("roc_auc"), canonical_metric("ndcg@10")
        ('precision@5', 'auc', 'ndcg@10')
    """
    return _canonical(name, find_metric)


def _metric_of(spec: Spec) -> Spec:
    spec = resolve(spec)
    entry = find_objective(spec)
    signature = signature_of_objective(entry)
    given = bind(signature, spec)
    if entry.metric is None:
        require_given(signature, given, among=["objective"])
        inner = given["objective"]
        return _metric_of(inner if isinstance(inner, Spec) else Spec(str(inner)))
    stands_for = read(entry.metric)
    found = _signature(find_metric(stands_for))
    shared = [option for option in found.order if option in signature.defaults]
    require_given(signature, given, among=shared)
    values = {option: given.get(option, signature.defaults[option]) for option in shared}
    # What the name of the metric has already, as "hit@1" has k, is not the objective's to say.
    options = {**values, **bind(found, stands_for)}
    options = {o: v for o, v in options.items() if v is not None and v != found.defaults[o]}
    k = options.pop(found.at, None) if found.at is not None else None
    if isinstance(k, (tuple, list)):  # an objective of several cuts is evaluated at the widest
        k = max(k)
    return Spec(stands_for.name, k, (), options)


def _signature(entry: MetricEntry) -> Signature:
    return signature_of(
        "metric", entry.names[0], load(entry), order=entry.options, at=entry.at, without=_DATA
    )
