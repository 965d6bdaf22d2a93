"""The verdict on a ranker, and the report of its run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankwise.data.letor import Letor
from rankwise.estimators.names import is_graded
from rankwise.metrics import mean_over_lists
from rankwise.naming import metric
from rankwise.report import Section, Table, settings_section, write_html, write_json
from rankwise.report.charts import BROAD, Frame, bars, linear_axis, segment
from rankwise.report.elements import Markup, chips, figure
from rankwise.report.plots import line_chart
from rankwise.report.verdict import Record, Verdict, lower_rate
from rankwise.tasks.ranking.baseline import SingleFeature
from rankwise.tasks.ranking.evaluate import QueryMetric, notes_of, results_table
from rankwise.tasks.ranking.settings import Settings

if TYPE_CHECKING:
    from rankwise.estimators import Ranker

_BARS = 250  # of a figure; of more queries, evenly spaced ones


def compared_with_feature(
    settings: Settings,
    ranker: Ranker,
    part: str,
    results: Mapping[str, QueryMetric],
    *,
    feature: SingleFeature,
    alone: Mapping[str, QueryMetric],
) -> Verdict:
    """Return the verdict on the metric of the settings: the ranker against the best feature."""
    before, after = alone[settings.metric], results[settings.metric]
    change = after.values - before.values
    record, gap = Record.of(change), after.mean - before.mean
    reach = 1.96 * mean_over_lists(change).standard_error
    seen = "; these are the training queries, pass --test to evaluate on others"
    how = "level with" if abs(gap) <= reach else "better than" if gap > 0 else "worse than"
    rate = getattr(ranker, "learning_rate", None)
    other = {"mlp": "linear", "linear": "boosted", "boosted": "linear"}[settings.model]
    advice = (
        *([] if rate is None else [lower_rate("--set learning_rate", float(rate))]),
        f"another model, --model {other}",
        "more training queries, or features that separate relevant documents from others",
    )
    return Verdict(
        f"{how} the best single feature: {part} {settings.metric} is {after.mean:.4f}, and "
        f"{before.mean:.4f} for {feature} (difference {gap:+.4f} ± {reach:.4f})"
        f"{seen if part == 'train' else ''}",
        () if gap > 0 else advice,
        f"Of {record.total:,} {part} queries, the model ranks {record.won:,} better than the best "
        f"single feature does and {record.lost:,} worse{record.chance}.",
    )


def baselines_table(part: str, results: Mapping[str, Mapping[str, QueryMetric]]) -> Table:
    """One row for each metric, one column for the model and each baseline."""
    names = list(next(iter(results.values())))
    rows = [(name, *(str(found[name]) for found in results.values())) for name in names]
    words = (
        f"The {part} queries. The best single feature was chosen on the training queries; in "
        "random order, all documents of a query are tied."
    )
    return Table(("metric", *results), rows, words)


def queries_section(metric: str, part: str, change: NDArray[np.float64]) -> Section:
    """Return the section of the queries won and lost against the best single feature."""
    ordered = np.sort(change[~np.isnan(change)])[::-1]
    record, total = Record.of(change), len(ordered)
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
        f"The change of {metric} of each {part} query against the best single feature: "
        f"{record.won:,} won, {record.lost:,} lost, {record.equal:,} equal."
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
    baselines: Table,
) -> Path:
    """``results.json`` and ``index.html``, whose path is returned."""
    history = [float(value) for value in getattr(ranker, "history_", [])]
    plain = {part: {n: m.plain for n, m in found.items()} for part, found in results.items()}
    write_json(out / "results.json", {"results": plain, "history": history})
    words = ["Every query ranks its own documents.", *notes_of(results)]
    if "validation" not in parts and settings.validation_share:
        words[0] += (
            f" {settings.validation_share:.0%} of the training queries were held out for early "
            "stopping; the train column includes them."
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
        Section("Ranking quality", words, tables=[results_table(results), baselines]),
        *(Section("Training", figures=[figure]) for figure in curve),
        Section("Data", tables=[data]),
        settings_section(shown),
    ]
    headline, path = verdict.headline(), out / "index.html"
    return write_html(path, "Learning to rank", sections, headline=headline, command="rank")


def stops_by(settings: Settings, *parts: Letor) -> str:
    """Return the metric of validation as training sees it, in words.

    An objective of two classes turns relevances into two classes, for the metric as well.
    """
    graded = metric(settings.metric).setting.kernel.graded and not is_graded(settings.objective)
    if graded and any(len(np.unique(part.target)) > 2 for part in parts):
        return f"{settings.metric} of two classes (relevant: at least {settings.relevant:g})"
    return settings.metric


def _curve(metric: str, history: Sequence[float]) -> Markup:
    best = max(range(len(history)), key=history.__getitem__)
    words = (
        f"{metric} on validation over {len(history)} epochs; the best, {history[best]:.4f} after "
        f"epoch {best + 1}, was kept."
    )
    lines = {metric: (range(1, len(history) + 1), history)}
    y, kept = f"{metric}, validation", (best + 1, history[best])
    return line_chart("epoch", y, lines, words, kept=kept)
