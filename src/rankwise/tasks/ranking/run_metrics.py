"""Metrics of run files of TREC, by the rules of trec_eval."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from rankwise._grammar import canonical
from rankwise.data import DataError
from rankwise.data.letor import Qrels, Run
from rankwise.errors import UsageError
from rankwise.metrics import Metric, at_rank
from rankwise.metrics.dcg import LARGEST
from rankwise.metrics.incomplete import inferred, preferred
from rankwise.metrics.inputs import OUTSIDE, UNLABELED, read_items
from rankwise.naming import metric
from rankwise.naming.table import read
from rankwise.tasks.ranking.evaluate import QueryMetric, max_relevance, require_relevant
from rankwise.tasks.ranking.settings import TREC

_WITH_K = ("precision", "recall", "hit")
_WITHOUT_K = ("ndcg", "ap", "mrr")
_OF_USERS = ("err", "rbp", "inst")  # computed as for lists, by the ranks of the run
_INCOMPLETE = ("bpref", "infap")


def evaluate_run(
    run: Run, qrels: Qrels, names: Sequence[str] = TREC, *, relevant: int = 1
) -> dict[str, QueryMetric]:
    """Compute metrics of a run over the queries of the qrels, in their order.

    Every query with a relevant document counts, as in :func:`evaluate_lists`; one without is left
    out, one that the run does not have counts 0. A document without a judgment is not relevant. As
    in trec_eval documents stand by their scores in single precision, tied ones by their ids, the
    last first; what was not retrieved counts in what there is to find and never as found. For
    ``bpref`` and ``infap`` a document that is below 0 in the qrels is in the pool without a
    judgment, and one that is not in the qrels is outside of the pool.
    """
    require_relevant(relevant)
    asked = dict(_asked(name) for name in names)
    _require_scales(asked, qrels)
    ranked = _ranked(run, qrels)
    gains, ideal = ranked.labels.clamp_min(0), ranked.ideal
    hits, found = (gains >= relevant).double(), (ideal >= relevant).sum(1).double()
    of_hits: dict[str, Callable[[Any], Tensor]] = {
        "mrr": lambda k: at_rank.reciprocal_rank(hits, k),
        "ap": lambda k: at_rank.average_precision(hits, found, k),
        "precision": lambda k: at_rank.precision(hits, k),
        "recall": lambda k: at_rank.recall(hits, found, k),
        "hit": lambda k: at_rank.hit(hits, k),
    }
    evaluated = {}
    for name, each in asked.items():
        best = found
        if each.kind == "ndcg":
            both = (r if each.linear else r.exp2() - 1 for r in (gains, ideal))
            dcg, best = (at_rank.dcg(r, each.k) for r in both)
            values = dcg / best
        elif each.of_lists is not None:
            graded = each.of_lists.setting.kernel.graded
            values = _of_lists(each.of_lists, gains if graded else hits, ranked.lengths)
            best = (ideal > 0).sum(1) if graded else found
        elif each.kind in _INCOMPLETE:
            values = _incomplete(each.kind, ranked, relevant, found)
        else:
            values = of_hits[each.kind](each.k)
        evaluated[name] = QueryMetric(name, values.masked_fill(best <= 0, torch.nan).numpy())
    return evaluated


def _require_scales(asked: Mapping[str, _Asked], qrels: Qrels) -> None:
    """Raise where a relevance is too large for a metric."""
    every = ((r, query, document) for query, own in qrels.items() for document, r in own.items())
    relevance, query, document = max(every, default=(0, "", ""))
    whose = f"the relevance of document {document!r} for query {query!r} is too large for"
    for each in asked.values():
        if each.kind == "ndcg" and not each.linear and relevance > LARGEST:
            raise DataError(
                f"{whose} an ndcg whose gain is 2^relevance − 1: {relevance}, at most "
                f"{LARGEST:g}; or ask for ndcg(gain=linear)"
            )
        most = max_relevance(each.of_lists) if each.of_lists is not None else math.inf
        if relevance > most:
            raise DataError(
                f"{whose} err with max_relevance={most:g}: {relevance}; ask for "
                f"err(max_relevance={relevance}), the largest relevance of the scale"
            )


@dataclass(frozen=True)
class _Asked:
    """A metric of a run: its kind, its cut, whether its gain is linear, and its other options."""

    kind: str
    k: int | None
    linear: bool = False
    of_lists: Metric | None = None


def _asked(name: str) -> tuple[str, _Asked]:
    """The name that rankwise has for a metric, and what it asks for."""
    try:
        spec = read(name)
        kind = canonical(spec.name)
        found = metric(name) if kind in (*_OF_USERS, *_INCOMPLETE) else None
    except ValueError as error:
        raise UsageError(str(error)) from None
    if found is not None:
        of_lists = found if kind in _OF_USERS else None
        return str(replace(spec, name=kind)), _Asked(kind, None, of_lists=of_lists)
    gain = spec.options.get("gain", "exponential")
    known = kind in _WITHOUT_K or (kind in _WITH_K and spec.k is not None)
    others = spec.options.keys() - ({"gain"} if kind == "ndcg" else set()) or spec.args
    if not known or others or gain not in ("exponential", "linear"):
        raise UsageError(
            "a metric of a run must be one of ndcg, ndcg@k, both with (gain=linear), ap, ap@k, "
            "mrr, mrr@k, precision@k, recall@k, hit@k, err, err@k, rbp, rbp@k, inst, bpref, infap, "
            f"got {name!r}"
        )
    if spec.k == 0:
        raise UsageError(f"k must be a whole number >= 1, got {name!r}")
    return str(replace(spec, name=kind)), _Asked(kind, spec.k, gain == "linear")


def _of_lists(of_lists: Metric, target: Tensor, lengths: Tensor) -> Tensor:
    """Return a metric of lists as they are ranked; 0 where nothing relevant was retrieved."""
    ranks = torch.arange(target.shape[1], dtype=torch.float64).expand_as(target)
    items = read_items(-ranks, target, ranks < lengths[:, None], pooled=True)
    alone = replace(of_lists.setting, average="none", positives_alone=True)
    return alone.values(items).nan_to_num(0.0)


def _incomplete(kind: str, ranked: _Ranked, relevant: int, found: Tensor) -> Tensor:
    labels = ranked.labels
    positives = (labels >= relevant).double()
    negatives = ((labels >= 0) & (labels < relevant)).double()
    if kind == "bpref":
        return preferred(positives, negatives, found, ranked.judged - found)
    pool = (labels > OUTSIDE).double()
    return inferred(positives, negatives, pool, torch.ones_like(labels)) / found


@dataclass(frozen=True)
class _Ranked:
    """A run as it is ranked, one row per query of the qrels."""

    labels: Tensor  # relevances by rank; below 0 without a judgment, and behind the end
    ideal: Tensor  # positive relevances of the qrels, descending
    lengths: Tensor  # documents retrieved
    judged: Tensor  # documents of the qrels with a judgment


def _ranked(run: Run, qrels: Qrels) -> _Ranked:
    rows, best = [], []
    for query, judged in qrels.items():
        documents = run.get(query, {})
        with np.errstate(over="ignore"):  # what is beyond single precision is infinite in it
            order = sorted(documents, key=lambda d: (np.float32(documents[d]), d), reverse=True)
        rows.append([max(UNLABELED, judged[d]) if d in judged else OUTSIDE for d in order])
        best.append(sorted((rel for rel in judged.values() if rel > 0), reverse=True))
    known = [sum(rel >= 0 for rel in own.values()) for own in qrels.values()]
    counts = (torch.tensor(each, dtype=torch.float64) for each in (list(map(len, rows)), known))
    return _Ranked(_padded(rows, OUTSIDE), _padded(best), *counts)


def _padded(rows: Sequence[Sequence[float]], value: float = 0.0) -> Tensor:
    """Return rows as a matrix with a value at their ends, and at least one column."""
    lists = [torch.tensor(row, dtype=torch.float64) for row in (*rows, [value])]
    return pad_sequence(lists, batch_first=True, padding_value=value)[:-1]
