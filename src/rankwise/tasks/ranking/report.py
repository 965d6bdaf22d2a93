"""Results of a run: numbers in a file, a verdict, and the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rankwise.data.letor import Letor
from rankwise.estimators import Ranker
from rankwise.report import (
    Figure,
    Section,
    Table,
    render_report,
    settings_section,
    write_json,
    write_whole,
)
from rankwise.report.plots import as_figure, history_axes
from rankwise.report.verdict import Verdict, lower_rate, verdict
from rankwise.tasks.ranking.evaluate import Judged, judged
from rankwise.tasks.ranking.settings import Settings


def compared_with_start(
    settings: Settings, ranker: Ranker, name: str, data: Letor, scores: NDArray[np.float64]
) -> Verdict:
    """Return the verdict on the metric of the settings over the queries of the part ``name``."""
    before, after = (
        judged(each, data, [settings.metric], relevant=settings.relevant).popitem()[1].values
        for each in (np.zeros(len(data)), scores)
    )
    change = (after - before)[~np.isnan(after - before)]
    spread = float(change.std(ddof=1)) if len(change) > 1 else math.nan
    return verdict(
        settings.metric,
        part=name,
        test=(float(np.nanmean(before)), float(np.nanmean(after))) if len(change) else None,
        reach=1.96 * spread / math.sqrt(max(1, len(change))),
        advice=_advice(settings, ranker),
    )


def _advice(settings: Settings, ranker: Ranker) -> list[str]:
    rate = getattr(ranker, "learning_rate", None)
    found = [] if rate is None else [lower_rate("--set learning_rate", float(rate))]
    others = {"mlp": "linear", "linear": "boosted", "boosted": "linear"}
    found.append(f"another model, --model {others[settings.model]}")
    found.append("more queries to train on, or features that tell relevant documents apart")
    return found


def write_results(
    out: Path,
    settings: Settings,
    counts: Sequence[tuple[str, int, int, int]],
    results: Mapping[str, Mapping[str, Judged]],
    history: Sequence[float],
    *,
    stopped_by: str,
    verdict: Verdict,
) -> Path:
    """``results.json`` and ``index.html``, whose path is returned.

    ``stopped_by`` is the metric of ``history`` in words.
    """
    plain = {part: {n: j.plain for n, j in found.items()} for part, found in results.items()}
    write_json(out / "results.json", {"results": plain, "history": list(history)})
    sections = [
        verdict.section(),
        Section(
            "How good the ranking is",
            [f"Every query ranks its own documents.{_held(settings, results)}", *notes_of(results)],
            tables=[results_table(results)],
        ),
    ]
    if history:
        sections.append(Section("Training", figures=[_curve(stopped_by, history)]))
    data = Table(
        ("part", "queries", "documents", "relevant"),
        [(name, *(f"{count:,}" for count in row)) for name, *row in counts],
    )
    shown = {name: value or "–" for name, value in settings.model_dump().items()}
    sections += [
        Section("Data", tables=[data]),
        settings_section(shown),
    ]
    return write_whole(out / "index.html", render_report("Learning to rank", sections))


def results_table(results: Mapping[str, Mapping[str, Judged]]) -> Table:
    """One row for each metric, one column for each part."""
    names = list(next(iter(results.values())))
    rows = [(name, *(str(found[name]) for found in results.values())) for name in names]
    sizes = " and ".join(
        f"{max((j.over.count for j in found.values()), default=0)} of {part}"
        for part, found in results.items()
    )
    words = (
        f"Means over the queries with a relevant document, {sizes}; ± is a 95 % interval over "
        "queries, not over trainings."
    )
    return Table(("metric", *results), rows, words)


def notes_of(results: Mapping[str, Mapping[str, Judged]]) -> list[str]:
    """Queries for which a metric is not defined, in words."""
    said = []
    for part, found in results.items():
        left = {name: (j.pairs, j.over.left_out) for name, j in found.items()}
        for pairs, count in sorted(set(left.values())):
            if not count:
                continue
            names = ", ".join(name for name, why in left.items() if why == (pairs, count))
            queries = "1 query" if count == 1 else f"{count} queries"
            lacks = "a relevant document or without any other" if pairs else "a relevant document"
            verb = "is" if count == 1 else "are"
            said.append(f"{part}: {queries} without {lacks} {verb} left out of {names}.")
    return said


def _held(settings: Settings, results: Mapping[str, object]) -> str:
    if "validation" in results or not settings.validation_share:
        return ""
    return (
        f" {settings.validation_share:.0%} of the training queries only said when to stop; they "
        "are in the column of train."
    )


def _curve(metric: str, history: Sequence[float]) -> Figure:
    best = max(range(len(history)), key=lambda n: history[n])
    canvas, _ = history_axes(history, f"{metric}, validation", (best + 1, history[best]))
    return as_figure(
        canvas,
        f"{metric} on validation over {len(history)} epochs; the best, {history[best]:.4f} after "
        f"epoch {best + 1}, was kept.",
    )
