"""Metrics of scores over queries, and their tables."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rankwise.data import DataError
from rankwise.data.letor import Letor
from rankwise.errors import UsageError
from rankwise.files import nan_to_none
from rankwise.metrics import ListMean, Metric, mean_over_lists
from rankwise.metrics.dcg import LARGEST
from rankwise.naming import canonical_metric, metric
from rankwise.report import Mean, Table
from rankwise.tasks.ranking.settings import DEFAULT


@dataclass(frozen=True, eq=False)
class QueryMetric:
    """A metric with one value per query; NaN where it is not defined for the list of the query."""

    name: str
    values: NDArray[np.float64]
    pairs: bool = False  # compares relevant documents with others, so a query needs both

    @cached_property
    def over(self) -> ListMean:
        """Mean over the queries for which it is defined."""
        return mean_over_lists(self.values)

    @property
    def mean(self) -> float:
        """The mean without its error."""
        return self.over.mean

    @property
    def plain(self) -> object:
        """For a file: JSON has no word for NaN."""
        known = {"value": self.over.mean, "standard_error": self.over.standard_error}
        return nan_to_none({**known, "queries": self.over.count, "left_out": self.over.left_out})

    def __str__(self) -> str:
        return str(Mean(self.mean, self.over.standard_error, self.over.count))


def known_metrics(names: Sequence[str]) -> list[str]:
    """The names that rankwise has for metrics; raises for one that is none, or wrong options."""
    try:
        return list({canonical_metric(name): metric(name) for name in names})
    except ValueError as error:
        raise UsageError(str(error)) from None


def require_relevant(relevant: float) -> None:
    """Raise where all documents would be relevant, or none."""
    if not (math.isfinite(relevant) and relevant > 0):
        raise UsageError(
            f"relevant must be a finite number above 0, got {relevant!r}; pass the smallest "
            "relevance of a document that counts as relevant, such as 1"
        )


def require_gains(data: Letor, gains: Mapping[str, object]) -> None:
    """Raise where a relevance is too large for the gain of a metric or an objective."""
    row = int(np.argmax(data.target))
    names = [name for name, gain in gains.items() if gain == "exponential"]
    if names and data.target[row] > LARGEST:
        raise DataError(
            f"{data.place(row)}: the relevance {data.target[row]:g} is too large for {names[0]}, "
            f"whose gain is 2^relevance − 1: at most {LARGEST:g}, or with gain=linear"
        )


def max_relevance(metric: Metric) -> float:
    """Return the largest relevance that a metric takes by its options; infinity for most."""
    most = metric.setting.options.get("max_relevance")
    return float(most) if isinstance(most, int) else math.inf


def require_scales(data: Letor, names: Sequence[str]) -> None:
    """Raise where a relevance is above the scale of a metric, such as err."""
    row = int(np.argmax(data.target))
    for name in names:
        most = max_relevance(metric(name))
        if data.target[row] > most:
            raise DataError(
                f"{data.place(row)}: the relevance {data.target[row]:g} is above the scale of "
                f"{name}, {most:g}; pass the largest relevance of the scale, such as "
                f"err@10(max_relevance={math.ceil(data.target.max())})"
            )


def evaluate_lists(
    scores: NDArray[np.float64], data: Letor, names: Sequence[str] = DEFAULT, *, relevant: float = 1
) -> dict[str, QueryMetric]:
    """Compute metrics of scores per query; metrics of two classes count from ``relevant`` on.

    As in trec_eval every query with a relevant document has a value, also where all its documents
    are relevant; metrics of pairs, such as ``auc``, need another document, too. Tied scores count
    as the mean over their orders (``ap``: all of them as above), never by the order of the file.
    """
    names = known_metrics(names)
    require_relevant(relevant)
    require_gains(data, {name: metric(name).setting.options.get("gain") for name in names})
    require_scales(data, names)
    binary = (data.target >= relevant).astype(np.float64)
    found = {}
    for name in names:
        setting = replace(metric(name).setting, average="none", positives_alone=True)
        graded = setting.kernel.graded
        with warnings.catch_warnings():  # what is left out is counted and said
            warnings.simplefilter("ignore", RuntimeWarning)
            values = setting(scores, data.target if graded else binary, None, data.groups, None)
        found[name] = QueryMetric(name, values, pairs=setting.kernel.pairs and not graded)
    return found


def tied_queries(scores: NDArray[np.float64], data: Letor) -> int:
    """Queries in which documents of different relevance have one score, in single precision."""
    with np.errstate(over="ignore"):
        single = scores.astype(np.float32)
    order = np.lexsort((data.target, single, data.groups))
    group, score, target = data.groups[order], single[order], data.target[order]
    tied = (np.diff(group) == 0) & (score[1:] == score[:-1]) & (target[1:] != target[:-1])
    return len(np.unique(group[1:][tied]))


def results_table(results: Mapping[str, Mapping[str, QueryMetric]]) -> Table:
    """One row for each metric, one column for each part."""
    names = list(next(iter(results.values())))
    rows = [(name, *(str(found[name]) for found in results.values())) for name in names]
    sizes = " and ".join(
        f"{max((each.over.count for each in found.values()), default=0)} of {part}"
        for part, found in results.items()
    )
    words = (
        f"Means over the queries with a relevant document, {sizes}; ± is a 95 % interval over "
        "queries, not over trainings."
    )
    return Table(("metric", *results), rows, words)


def notes_of(results: Mapping[str, Mapping[str, QueryMetric]]) -> list[str]:
    """Queries for which a metric is not defined, in words."""
    said = []
    for part, found in results.items():
        left = {name: (each.pairs, each.over.left_out) for name, each in found.items()}
        for pairs, count in sorted({why for why in left.values() if why[1]}):
            names = ", ".join(name for name, why in left.items() if why == (pairs, count))
            queries, verb = ("1 query", "is") if count == 1 else (f"{count} queries", "are")
            lacks = "a relevant document or without any other" if pairs else "a relevant document"
            said.append(f"{part}: {queries} without {lacks} {verb} left out of {names}.")
    return said
