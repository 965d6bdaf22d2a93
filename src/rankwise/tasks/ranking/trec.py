"""TREC's runs judged by its qrels, as trec_eval judges them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise._grammar import canonical
from rankwise.data import DataError
from rankwise.data.letor import Letor, Qrels, Run
from rankwise.errors import UsageError
from rankwise.metrics import at_rank
from rankwise.metrics.dcg import LARGEST
from rankwise.naming.table import read
from rankwise.tasks.ranking.evaluate import Judged, require_relevant

TREC = ("ndcg@10", "ndcg@10(gain=linear)", "ap", "mrr", "precision@10", "recall@100")
_WITH_K = ("precision", "recall", "hit")
_WITHOUT_K = ("ndcg", "ap", "mrr")
_Value = TypeVar("_Value", int, float)


def judged_run(
    run: Run, qrels: Qrels, names: Sequence[str] = TREC, *, relevant: int = 1
) -> dict[str, Judged]:
    """Metrics of a run over the queries of the qrels, in their order.

    Every query with a relevant document counts, as for lists (:func:`judged`); one without is left
    out, one that the run does not have counts 0. A document without a judgment is not relevant. As
    in trec_eval documents stand by their scores in single precision, tied ones by their ids, the
    last first; what was not retrieved counts in what there is to find and never as found.
    """
    require_relevant(relevant)
    asked = dict(_asked(name) for name in names)
    if any(kind == "ndcg" and not linear for kind, _, linear in asked.values()):
        _require_gains(qrels)
    hits, gains, ideal, found = _ranked(run, qrels, relevant)
    has = found > 0
    judged = {}
    for name, (kind, k, linear) in asked.items():
        if kind == "ndcg":
            best = at_rank.dcg(_gain(ideal, linear), k)
            values = at_rank.dcg(_gain(gains, linear), k) / best
            defined = best > 0
        else:
            values, defined = _of_hits(kind, k, hits, found), has
        judged[name] = Judged(name, values.masked_fill(~defined, torch.nan).numpy())
    return judged


def as_run(data: Letor, scores: NDArray[np.float64]) -> Run:
    """The scores of lists as a run; a document that stands twice in one list raises."""
    return _by_document(data, scores.tolist())


def as_qrels(data: Letor) -> Qrels:
    """The relevances of lists as judgments; those that are no whole numbers raise."""
    if (data.target != data.target.round()).any():
        raise UsageError(f"{data.path}: qrels want whole numbers as relevances")
    return _by_document(data, data.target.astype(np.int64).tolist())


def _by_document(data: Letor, values: Sequence[_Value]) -> dict[str, dict[str, _Value]]:
    """Values by query and document."""
    found: dict[str, dict[str, _Value]] = {query: {} for query in data.queries}
    for row, (group, value) in enumerate(zip(data.groups.tolist(), values, strict=True)):
        query, document = data.queries[group], data.document(row)
        if document in found[query]:
            raise DataError(
                f"{data.place(row)}: document {document!r} was already there for query {query!r}; "
                "in a run and in qrels every document of a query needs an id of its own"
            )
        found[query][document] = value
    return found


def _asked(name: str) -> tuple[str, tuple[str, int | None, bool]]:
    """The name that rankwise has for a metric, and its kind, its cut and whether it is linear."""
    try:
        spec = read(name)
    except ValueError as error:
        raise UsageError(str(error)) from None
    kind = canonical(spec.name)
    gain = spec.options.get("gain", "exponential")
    others = set(spec.options) - {"gain"} or spec.args
    wrong_gain = gain not in ("exponential", "linear") or (
        "gain" in spec.options and kind != "ndcg"
    )
    known = kind in _WITHOUT_K or (kind in _WITH_K and spec.k is not None)
    if kind == "mrr" and spec.k is not None:
        raise UsageError(
            f'mrr is over the whole ranking: {name!r} has no counterpart here; write "mrr"'
        )
    if not known or others or wrong_gain:
        raise UsageError(
            "a metric of a run must be one of ndcg, ndcg@k, both with (gain=linear), ap, ap@k, "
            f"mrr, precision@k, recall@k, hit@k, got {name!r}"
        )
    if spec.k == 0:
        raise UsageError(f"k must be a whole number >= 1, got {name!r}")
    return str(replace(spec, name=kind)), (kind, spec.k, gain == "linear")


def _of_hits(kind: str, k: int | None, hits: Tensor, found: Tensor) -> Tensor:
    if kind == "mrr":
        return at_rank.reciprocal_rank(hits)
    if kind == "ap":
        return at_rank.average_precision(hits, found, k)
    assert k is not None
    if kind == "precision":
        return at_rank.precision(hits, k)
    return at_rank.recall(hits, found, k) if kind == "recall" else at_rank.hit(hits, k)


def _require_gains(qrels: Qrels) -> None:
    for query, documents in qrels.items():
        for document, relevance in documents.items():
            if relevance > LARGEST:
                raise DataError(
                    f"the relevance of document {document!r} for query {query!r} is too large for "
                    f"an ndcg whose gain is 2^relevance − 1: {relevance}, at most {LARGEST:g}; "
                    "or ask for ndcg(gain=linear)"
                )


def _gain(relevance: Tensor, linear: bool) -> Tensor:
    return relevance if linear else relevance.exp2() - 1


def _ranked(run: Run, qrels: Qrels, relevant: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Of every query the hits and relevances by rank, the best relevances, the number to find."""
    rows, best = [], []
    for query, judged in qrels.items():
        documents = run.get(query, {})
        with np.errstate(over="ignore"):  # what is beyond single precision is infinite in it
            order = sorted(documents, key=lambda d: (np.float32(documents[d]), d), reverse=True)
        rows.append([max(0, judged.get(document, 0)) for document in order])
        best.append(sorted((rel for rel in judged.values() if rel > 0), reverse=True))
    gains, ideal = _padded(rows), _padded(best)
    found = (ideal >= relevant).sum(1).double()
    return (gains >= max(relevant, 1)).double(), gains, ideal, found


def _padded(rows: Sequence[Sequence[float]]) -> Tensor:
    widest = max((len(row) for row in rows), default=0)
    found = torch.zeros(len(rows), max(1, widest), dtype=torch.float64)
    for number, row in enumerate(rows):
        found[number, : len(row)] = torch.tensor(row, dtype=torch.float64)
    return found


def tied_run_queries(run: Run, qrels: Qrels) -> int:
    """Count the judged queries with retrieved documents of different relevance and one score."""
    found = 0
    for query, judged in qrels.items():
        relevances: dict[np.float32, set[int]] = defaultdict(set)
        with np.errstate(over="ignore"):
            for document, score in run.get(query, {}).items():
                relevances[np.float32(score)].add(max(0, judged.get(document, 0)))
        found += any(len(each) > 1 for each in relevances.values())
    return found


def queries_without_run(run: Mapping[str, object], qrels: Mapping[str, object]) -> int:
    """Judged queries that the run does not have."""
    return sum(query not in run for query in qrels)


def run_remarks(run: Run, qrels: Qrels, name: object, judgments: object) -> list[str]:
    """Queries that are only in the run or only in the qrels; no query in both raises."""
    missing = queries_without_run(run, qrels)
    if missing == len(qrels):
        raise UsageError(
            f"{name} has none of the {len(qrels)} queries of {judgments}, such as "
            f"{next(iter(qrels))!r}; its own are such as {next(iter(run))!r}"
        )
    said = []
    if missing:
        said.append(
            f"{name}: {missing} of {len(qrels)} judged queries not in the run, counted as 0"
        )
    if unjudged := queries_without_run(qrels, run):
        said.append(f"{name}: {unjudged} of {len(run)} queries without judgments, left out")
    return said
