"""Runs and qrels of TREC: evaluated as trec_eval does it, and compared query by query."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from rankwise._grammar import canonical
from rankwise.data import DataError
from rankwise.data.letor import Letor, Qrels, Run
from rankwise.errors import UsageError
from rankwise.files import nan_to_none
from rankwise.metrics import Comparison, at_rank, compare_lists
from rankwise.metrics.dcg import LARGEST
from rankwise.naming.table import read
from rankwise.report import Table
from rankwise.report.format import p_value
from rankwise.report.verdict import Record
from rankwise.tasks.ranking.evaluate import QueryMetric, require_relevant
from rankwise.tasks.ranking.settings import TREC

_WITH_K = ("precision", "recall", "hit")
_WITHOUT_K = ("ndcg", "ap", "mrr")
_Value = TypeVar("_Value", int, float)


def evaluate_run(
    run: Run, qrels: Qrels, names: Sequence[str] = TREC, *, relevant: int = 1
) -> dict[str, QueryMetric]:
    """Compute metrics of a run over the queries of the qrels, in their order.

    Every query with a relevant document counts, as in :func:`evaluate_lists`; one without is left
    out, one that the run does not have counts 0. A document without a judgment is not relevant. As
    in trec_eval documents stand by their scores in single precision, tied ones by their ids, the
    last first; what was not retrieved counts in what there is to find and never as found.
    """
    require_relevant(relevant)
    asked = dict(_asked(name) for name in names)
    every = ((r, query, document) for query, own in qrels.items() for document, r in own.items())
    relevance, query, document = max(every, default=(0, "", ""))
    exponential = any(kind == "ndcg" and not linear for kind, _, linear in asked.values())
    if exponential and relevance > LARGEST:
        raise DataError(
            f"the relevance of document {document!r} for query {query!r} is too large for an ndcg "
            f"whose gain is 2^relevance − 1: {relevance}, at most {LARGEST:g}; or ask for "
            "ndcg(gain=linear)"
        )
    gains, ideal = _ranked(run, qrels)
    hits, found = (gains >= relevant).double(), (ideal >= relevant).sum(1).double()
    of_hits: dict[str, Callable[[Any], Tensor]] = {
        "mrr": lambda k: at_rank.reciprocal_rank(hits),
        "ap": lambda k: at_rank.average_precision(hits, found, k),
        "precision": lambda k: at_rank.precision(hits, k),
        "recall": lambda k: at_rank.recall(hits, found, k),
        "hit": lambda k: at_rank.hit(hits, k),
    }
    evaluated = {}
    for name, (kind, k, linear) in asked.items():
        if kind == "ndcg":
            dcg, best = (at_rank.dcg(r if linear else r.exp2() - 1, k) for r in (gains, ideal))
            values = dcg / best
        else:
            values, best = of_hits[kind](k), found
        evaluated[name] = QueryMetric(name, values.masked_fill(best <= 0, torch.nan).numpy())
    return evaluated


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
    kind, gain = canonical(spec.name), spec.options.get("gain", "exponential")
    if kind == "mrr" and spec.k is not None:
        raise UsageError(
            f'mrr is over the whole ranking: {name!r} has no counterpart here; write "mrr"'
        )
    known = kind in _WITHOUT_K or (kind in _WITH_K and spec.k is not None)
    others = spec.options.keys() - ({"gain"} if kind == "ndcg" else set()) or spec.args
    if not known or others or gain not in ("exponential", "linear"):
        raise UsageError(
            "a metric of a run must be one of ndcg, ndcg@k, both with (gain=linear), ap, ap@k, "
            f"mrr, precision@k, recall@k, hit@k, got {name!r}"
        )
    if spec.k == 0:
        raise UsageError(f"k must be a whole number >= 1, got {name!r}")
    return str(replace(spec, name=kind)), (kind, spec.k, gain == "linear")


def _ranked(run: Run, qrels: Qrels) -> tuple[Tensor, Tensor]:
    """Of every query the relevances by rank in the run, and those of the best order."""
    rows, best = [], []
    for query, judged in qrels.items():
        documents = run.get(query, {})
        with np.errstate(over="ignore"):  # what is beyond single precision is infinite in it
            order = sorted(documents, key=lambda d: (np.float32(documents[d]), d), reverse=True)
        rows.append([max(0, judged.get(document, 0)) for document in order])
        best.append(sorted((rel for rel in judged.values() if rel > 0), reverse=True))
    return _padded(rows), _padded(best)


def _padded(rows: Sequence[Sequence[float]]) -> Tensor:
    """Return rows as a matrix with zeros at their ends, and at least one column."""
    lists = [torch.tensor(row, dtype=torch.float64) for row in (*rows, [0.0])]
    return pad_sequence(lists, batch_first=True)[:-1]


def tied_run_queries(run: Run, qrels: Qrels) -> int:
    """Count the judged queries with retrieved documents of different relevance and one score."""
    with np.errstate(over="ignore"):
        found = [
            {(np.float32(score), max(0, judged.get(d, 0))) for d, score in run.get(q, {}).items()}
            for q, judged in qrels.items()
        ]
    return sum(len({score for score, _ in pairs}) < len(pairs) for pairs in found)


def run_remarks(run: Run, qrels: Qrels, name: object, judgments: object) -> list[str]:
    """Queries that are only in the run or only in the qrels; no query in both raises."""
    missing, unjudged = len(qrels.keys() - run.keys()), len(run.keys() - qrels.keys())
    if missing == len(qrels):
        raise UsageError(
            f"{name} has none of the {len(qrels)} queries of {judgments}, such as "
            f"{next(iter(qrels))!r}; its own are such as {next(iter(run))!r}"
        )
    remarks = {
        f"{name}: {missing} of {len(qrels)} judged queries not in the run, counted as 0": missing,
        f"{name}: {unjudged} of {len(run)} queries without judgments, left out": unjudged,
    }
    return [remark for remark, queries in remarks.items() if queries]


@dataclass(frozen=True)
class RunComparison:
    """One metric of two runs: the paired difference, and in how many queries each is better."""

    found: Comparison
    queries: int  # with a relevant document
    wins_a: int
    wins_b: int
    equal: int

    @property
    def plain(self) -> object:
        """For a file: JSON has no word for NaN."""
        counts = asdict(self)
        return nan_to_none(counts.pop("found") | counts)


def compare_runs(
    run_a: Run,
    run_b: Run,
    qrels: Qrels,
    names: Sequence[str] = TREC,
    *,
    relevant: int = 1,
    seed: int = 0,
) -> dict[str, RunComparison]:
    """Compare two runs by every metric over the queries with a relevant document.

    A query that a run does not have counts 0 for it, as in :func:`evaluate_run`. The interval and
    the p-value are those of :func:`rankwise.metrics.compare_lists`.
    """
    first, second = (evaluate_run(run, qrels, names, relevant=relevant) for run in (run_a, run_b))
    found = {}
    for name, own in first.items():
        a, b = own.values, second[name].values
        wins, equal, losses = record = Record.of(a - b)
        counts = record.total, wins, losses, equal
        found[name] = RunComparison(compare_lists(a, b, seed=seed), *counts)
    return found


def comparison_table(found: Mapping[str, RunComparison], name_a: str, name_b: str) -> Table:
    """One row for each metric."""
    header = ("metric", "A", "B", "A − B", "95 % interval", "p", "A/B/equal")
    rows = []
    for name, each in found.items():
        both = each.found
        interval = "–" if math.isnan(both.low) else f"{both.low:+.4f} to {both.high:+.4f}"
        means = f"{both.value_a:.4f}", f"{both.value_b:.4f}", f"{both.difference:+.4f}"
        counts = f"{each.wins_a}/{each.wins_b}/{each.equal}"
        rows.append((name, *means, interval, p_value(both.p_value), counts))
    queries = " or ".join(map(str, sorted({each.queries for each in found.values()})))
    words = (
        f"A is {name_a}, B is {name_b}. Means over the {queries} queries with a relevant document. "
        "Interval: paired bootstrap over queries; p: two-sided paired randomization test, "
        "not corrected for the number of metrics. Last column: queries in which A is better, in "
        "which B is better, and in which both are equal."
    )
    return Table(header, rows, words)
