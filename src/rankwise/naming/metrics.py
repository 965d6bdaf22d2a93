"""A metric by its name, and the metric that an objective stands for."""

from __future__ import annotations

from rankwise.metrics import Metric
from rankwise.naming.entry import MetricEntry, load
from rankwise.naming.objectives import canonical_text, signature_of_objective
from rankwise.naming.options import Signature, bind, require_given, signature_of
from rankwise.naming.spec import Spec
from rankwise.naming.table import find_metric, find_objective, read, resolve
from rankwise.naming.values import made

__all__ = ["canonical_metric", "metric", "metric_of"]

_DATA = ("scores", "target", "mask", "groups", "weight")


def metric(name: str) -> Metric:
    """The accumulating metric of a name such as ``"ap"``, ``"opauc(max_fpr=.1)"``, ``"ndcg@10"``.

    ``metric(name).value(scores, target)`` is its value for one set of scores. The ``repr`` of a
    metric is a name, too. The names are in docs/naming.md.
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
        raise ValueError(f"{signature.title} cannot be made of {spec}: {error}") from error


def metric_of(objective: str) -> str:
    """The name of the metric that an objective stands for, with the options that both have.

    >>> metric_of("opauc(max_fpr=.1, form=kl)")
    'opauc(max_fpr=0.1)'
    """
    return str(_metric_of(read(objective)))


def canonical_metric(name: str) -> str:
    """The name that rankwise has for a metric: what results are shown under.

    >>> canonical_metric("P_5"), canonical_metric("roc_auc"), canonical_metric("ndcg@10")
    ('precision@5', 'auc', 'ndcg@10')
    """
    spec = read(name)
    return canonical_text(name, spec, find_metric(spec).names[0])


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
    if isinstance(k, (tuple, list)):  # an objective of several cuts is judged by the widest
        k = max(k)
    return Spec(stands_for.name, k, (), options)


def _signature(entry: MetricEntry) -> Signature:
    return signature_of(
        "metric", entry.names[0], load(entry), order=entry.options, at=entry.at, without=_DATA
    )
