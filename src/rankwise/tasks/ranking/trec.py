"""Runs and qrels of TREC: made of lists, and compared query by query."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rankwise.data import DataError
from rankwise.data.letor import Letor, Qrels, Run
from rankwise.errors import UsageError
from rankwise.files import nan_to_none
from rankwise.metrics import Comparison, compare_lists, compare_many
from rankwise.metrics.many import Correction
from rankwise.report import Table
from rankwise.report.format import p_value
from rankwise.report.verdict import Record
from rankwise.retrieval.fusion import Method, Normalize, fuse
from rankwise.tasks.ranking.run_metrics import evaluate_run
from rankwise.tasks.ranking.settings import TREC

_Value = TypeVar("_Value", int, float)


def as_run(data: Letor, scores: NDArray[np.float64]) -> Run:
    """Return the scores of lists as a run; a document that occurs twice in a list raises."""
    return _by_document(data, scores.tolist())


def as_qrels(data: Letor) -> Qrels:
    """Return the relevances of lists as qrels; one that is not a whole number raises."""
    if (data.target != data.target.round()).any():
        raise UsageError(f"{data.path}: qrels must have whole numbers as relevances")
    return _by_document(data, data.target.astype(np.int64).tolist())


def _by_document(data: Letor, values: Sequence[_Value]) -> dict[str, dict[str, _Value]]:
    """Return values by query and document."""
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


def fuse_runs(
    runs: Sequence[Run],
    *,
    method: Method = "rrf",
    k: float = 60.0,
    normalize: Normalize = "min_max",
) -> Run:
    """Return one run of the scores of several, see :func:`rankwise.retrieval.fuse`.

    It has every query of any run with every document that any run has for it.
    """
    queries = dict.fromkeys(query for run in runs for query in run)
    keys = [
        (place, query, document)
        for place, query in enumerate(queries)
        for document in dict.fromkeys(d for run in runs for d in run.get(query, {}))
    ]
    groups = np.array([place for place, _, _ in keys], dtype=np.int64)
    scores = [
        np.array([run.get(query, {}).get(document, math.nan) for _, query, document in keys])
        for run in runs
    ]
    try:
        fused = fuse(scores, method=method, groups=groups, k=k, normalize=normalize)
    except ValueError as error:
        raise UsageError(str(error)) from None
    found: Run = {query: {} for query in queries}
    for (_, query, document), score in zip(keys, fused.tolist(), strict=True):
        found[query][document] = score
    return found


def tied_run_queries(run: Run, qrels: Qrels) -> int:
    """Count the judged queries with retrieved documents of different relevance and one score."""
    with np.errstate(over="ignore"):
        found = [
            {(np.float32(score), max(0, judged.get(d, 0))) for d, score in run.get(q, {}).items()}
            for q, judged in qrels.items()
        ]
    return sum(len({score for score, _ in pairs}) < len(pairs) for pairs in found)


def run_remarks(run: Run, qrels: Qrels, name: object, judgments: object) -> list[str]:
    """Return remarks on queries that only the run or only the qrels have.

    No query in both raises.
    """
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
        """Return the content of a JSON file, null for NaN."""
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


def compare_all_runs(
    runs: Mapping[str, Run],
    qrels: Qrels,
    names: Sequence[str] = TREC,
    *,
    relevant: int = 1,
    method: Correction = "randomized-tukey",
    seed: int = 0,
) -> dict[str, dict[tuple[str, str], Comparison]]:
    """Compare all pairs of several runs by every metric, by metric and then by pair of names.

    The p-values are adjusted for the number of pairs by :func:`rankwise.metrics.compare_many`. The
    queries are those of :func:`compare_runs`.
    """
    found = [evaluate_run(run, qrels, names, relevant=relevant) for run in runs.values()]
    titles, compared = list(runs), {}
    for name in found[0]:
        try:
            pairs = compare_many(
                np.stack([each[name].values for each in found]), method=method, seed=seed
            )
        except ValueError as error:
            raise UsageError(f"{name}: {error}") from None
        compared[name] = {(titles[a], titles[b]): each for (a, b), each in pairs.items()}
    return compared


def pairs_table(found: Mapping[tuple[str, str], Comparison]) -> Table:
    """Return a table with a row for each pair of runs, the smallest p-value first."""
    header = ("A", "B", "mean A", "mean B", "A − B", "95 % interval", "p")
    ordered = sorted(found.items(), key=lambda item: (item[1].p_value, -abs(item[1].difference)))
    rows = [
        (
            *pair,
            f"{each.value_a:.4f}",
            f"{each.value_b:.4f}",
            f"{each.difference:+.4f}",
            f"{each.low:+.4f} to {each.high:+.4f}",
            p_value(each.p_value),
        )
        for pair, each in ordered
    ]
    return Table(header, rows)


def comparison_table(found: Mapping[str, RunComparison], name_a: str, name_b: str) -> Table:
    """Return a table with a row for each metric."""
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
