"""What a run found: numbers in a file, and a page to look at."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure as Canvas

from rankwise.report import Figure, Section, Table, render_report, write_json, write_whole
from rankwise.report.verdict import Verdict
from rankwise.tasks.ranking.evaluate import Judged
from rankwise.tasks.ranking.settings import Settings


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
        ("part", "queries", "documents", "relevant"), [(n, *map(_number, c)) for n, *c in counts]
    )
    shown = [(n, v or "–") for n, v in settings.model_dump().items()]
    sections += [
        Section("Data", tables=[data]),
        Section("Settings", tables=[Table(("setting", "value"), shown)]),
    ]
    return write_whole(out / "index.html", render_report("Learning to rank", sections))


def results_table(results: Mapping[str, Mapping[str, Judged]]) -> Table:
    """One row for each metric, one column for each part."""
    names = list(next(iter(results.values())))
    rows = [(name, *(str(found[name]) for found in results.values())) for name in names]
    sizes = " and ".join(
        f"{max((int(j.plain['queries'] or 0) for j in found.values()), default=0)} of {part}"
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
        left = {name: (j.pairs, int(j.plain["left_out"] or 0)) for name, j in found.items()}
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


def _number(count: int) -> str:
    return f"{count:,}"


def _curve(metric: str, history: Sequence[float]) -> Figure:
    canvas = Canvas(figsize=(7.0, 3.2), layout="constrained")
    axes = canvas.subplots()
    best = max(range(len(history)), key=lambda n: history[n])
    axes.plot(range(1, len(history) + 1), history, ".-", color="#00796b", linewidth=1.1)
    axes.plot(best + 1, history[best], "o", color="#b71c1c", markersize=6)
    axes.set_xlabel("epoch", fontsize=9)
    axes.set_ylabel(f"{metric}, validation", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    buffer = io.BytesIO()
    # Without the date and version the same data make the same file.
    canvas.savefig(buffer, format="png", dpi=130, metadata={"Software": None})
    words = (
        f"{metric} on validation over {len(history)} epochs; the best, "
        f"{history[best]:.4f} after epoch {best + 1}, was kept."
    )
    return Figure(buffer.getvalue(), words, words)
