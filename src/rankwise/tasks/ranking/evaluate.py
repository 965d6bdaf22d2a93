"""Metrics of scores over queries: their tables, a verdict, and the report of a run."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankwise.data import DataError
from rankwise.data.letor import Letor
from rankwise.errors import UsageError
from rankwise.estimators.names import is_graded
from rankwise.files import nan_to_none
from rankwise.metrics import ListMean, mean_over_lists
from rankwise.metrics.dcg import LARGEST
from rankwise.naming import canonical_metric, metric
from rankwise.report import Mean, Section, Table, settings_section, write_html, write_json
from rankwise.report.charts import BROAD, Frame, bars, line_chart, linear_axis, segment
from rankwise.report.elements import Markup, chips, figure
from rankwise.report.verdict import Verdict, lower_rate, may_be_chance, verdict
from rankwise.tasks.ranking.settings import DEFAULT, Settings

if TYPE_CHECKING:
    from rankwise.estimators import Ranker

_BARS = 250  # of a figure; of more queries, evenly spaced ones


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


def compared_with_start(
    settings: Settings,
    ranker: Ranker,
    part: str,
    start: Mapping[str, QueryMetric],
    results: Mapping[str, QueryMetric],
) -> Verdict:
    """Return the verdict on the metric of the settings over the queries of a part."""
    before, after = start[settings.metric], results[settings.metric]
    rate = getattr(ranker, "learning_rate", None)
    other = {"mlp": "linear", "linear": "boosted", "boosted": "linear"}[settings.model]
    return verdict(
        settings.metric,
        part=part,
        test=(before.mean, after.mean),
        reach=1.96 * mean_over_lists(after.values - before.values).standard_error,
        advice=[
            *([] if rate is None else [lower_rate("--set learning_rate", float(rate))]),
            f"another model, --model {other}",
            "more queries to train on, or features that tell relevant documents apart",
        ],
        sentence=_sentence(part, after.values - before.values),
    )


def _signs(change: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 for a query that is better, −1 for worse, 0 for equal up to rounding."""
    return np.sign(np.round(change[~np.isnan(change)], 12))


def _won_and_lost(change: NDArray[np.float64]) -> tuple[int, int, int]:
    """Return the queries that are better, worse, and in all."""
    signs = _signs(change)
    return int((signs > 0).sum()), int((signs < 0).sum()), len(signs)


def _sentence(part: str, change: NDArray[np.float64]) -> str:
    won, lost, total = _won_and_lost(change)
    return (
        f"Of {total:,} {part} queries, {won:,} are ranked better than in random order and "
        f"{lost:,} worse{may_be_chance(_signs(change)) if won != lost else ''}."
    )


def queries_section(metric: str, part: str, change: NDArray[np.float64]) -> Section:
    """Return the section of the queries won and lost: the change of each against random order."""
    ordered = np.sort(change[~np.isnan(change)])[::-1]
    won, lost, total = _won_and_lost(change)
    if total > _BARS:
        ordered = ordered[np.linspace(0, total - 1, _BARS).round().astype(int)]
    low, high = float(ordered.min(initial=0.0)), float(ordered.max(initial=0.01))
    frame = Frame(
        linear_axis("queries, best first", 0, max(total, 1), "{:.0f}".format),
        linear_axis(f"change of {metric}", 1.05 * low, 1.05 * high),
        **BROAD,
    )
    edges = np.linspace(0, total, len(ordered) + 1).tolist()
    shapes = [
        bars(frame, edges, np.maximum(ordered, 0).tolist(), "bars good"),
        bars(frame, edges, np.minimum(ordered, 0).tolist(), "bars bad"),
        segment("axis", frame.left, frame.y(0), frame.end, frame.y(0)),
    ]
    words = (
        f"The change of {metric} of each {part} query against the documents in random order: "
        f"{won:,} won, {lost:,} lost, {total - won - lost:,} equal."
    )
    names = chips({"good": "won", "bad": "lost"})
    image = figure(frame.render(shapes, label=words), [names, words])
    return Section("Queries won and lost", figures=[image])


def write_results(
    out: Path,
    settings: Settings,
    ranker: Ranker,
    parts: Mapping[str, Letor],
    results: Mapping[str, Mapping[str, QueryMetric]],
    *,
    verdict: Verdict,
    first: Section,
) -> Path:
    """``results.json`` and ``index.html``, whose path is returned."""
    history = [float(value) for value in getattr(ranker, "history_", [])]
    plain = {part: {n: m.plain for n, m in found.items()} for part, found in results.items()}
    write_json(out / "results.json", {"results": plain, "history": history})
    words = ["Every query ranks its own documents.", *notes_of(results)]
    if "validation" not in parts and settings.validation_share:
        words[0] += (
            f" {settings.validation_share:.0%} of the training queries only said when to stop; "
            "they are in the column of train."
        )
    learned = [part for name, part in parts.items() if name != "test"]
    curve = [_curve(stops_by(settings, *learned), history)] if history else []
    counts = [
        (len(part.queries), len(part), int((part.target >= settings.relevant).sum()))
        for part in parts.values()
    ]
    data = Table(
        ("part", "queries", "documents", "relevant"),
        [(name, *map("{:,}".format, row)) for name, row in zip(parts, counts, strict=True)],
    )
    shown = {name: value or "–" for name, value in settings.model_dump().items()}
    sections = [
        first,
        Section("How good the ranking is", words, tables=[results_table(results)]),
        *(Section("Training", figures=[figure]) for figure in curve),
        Section("Data", tables=[data]),
        settings_section(shown),
    ]
    return write_html(
        out / "index.html",
        "Learning to rank",
        sections,
        headline=verdict.headline(),
        command="rank",
    )


def stops_by(settings: Settings, *parts: Letor) -> str:
    """Return the metric of validation as training sees it, in words.

    An objective of two classes turns relevances into two classes, for the metric as well.
    """
    graded = metric(settings.metric).setting.kernel.graded and not is_graded(settings.objective)
    if graded and any(len(np.unique(part.target)) > 2 for part in parts):
        return f"{settings.metric} of two classes (relevant from {settings.relevant:g} on)"
    return settings.metric


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


def _curve(metric: str, history: Sequence[float]) -> Markup:
    best = max(range(len(history)), key=history.__getitem__)
    words = (
        f"{metric} on validation over {len(history)} epochs; the best, {history[best]:.4f} after "
        f"epoch {best + 1}, was kept."
    )
    lines = {metric: (range(1, len(history) + 1), history)}
    y, kept = f"{metric}, validation", (best + 1, history[best])
    return line_chart("epoch", y, lines, words, kept=kept)
