"""Results of a run: numbers in a file, a verdict, and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from rankwise.data.letor import Letor
from rankwise.estimators import Ranker
from rankwise.estimators.names import is_graded
from rankwise.metrics import mean_over_lists
from rankwise.naming import metric
from rankwise.report import Figure, Section, Table, settings_section, write_html, write_json
from rankwise.report.plots import as_figure, history_axes
from rankwise.report.verdict import Verdict, lower_rate, verdict
from rankwise.tasks.ranking.evaluate import QueryMetric
from rankwise.tasks.ranking.settings import Settings


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
    )


def write_results(
    out: Path,
    settings: Settings,
    ranker: Ranker,
    parts: Mapping[str, Letor],
    results: Mapping[str, Mapping[str, QueryMetric]],
    *,
    verdict: Verdict,
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
    curves = [_curve(stops_by(settings, *learned), history)] if history else []
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
        verdict.section(),
        Section("How good the ranking is", words, tables=[results_table(results)]),
        *([Section("Training", figures=curves)] if curves else []),
        Section("Data", tables=[data]),
        settings_section(shown),
    ]
    return write_html(out / "index.html", "Learning to rank", sections)


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


def _curve(metric: str, history: Sequence[float]) -> Figure:
    best = max(range(len(history)), key=history.__getitem__)
    canvas, _ = history_axes(history, f"{metric}, validation", (best + 1, history[best]))
    return as_figure(
        canvas,
        f"{metric} on validation over {len(history)} epochs; the best, {history[best]:.4f} after "
        f"epoch {best + 1}, was kept.",
    )
