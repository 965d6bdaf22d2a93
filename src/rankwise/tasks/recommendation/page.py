"""What a run found: numbers in a file, and a page to look at."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

from matplotlib.figure import Figure as Canvas

from rankwise.report import Figure, Section, Table, render_report, write_json, write_whole
from rankwise.report.verdict import Verdict
from rankwise.tasks.recommendation.evaluation import Evaluation
from rankwise.tasks.recommendation.settings import Settings
from rankwise.tasks.recommendation.training import Trained


def write_results(
    out: Path,
    settings: Settings,
    trained: Trained,
    counts: Mapping[str, int],
    results: Mapping[str, Evaluation],
    *,
    verdict: Verdict,
) -> Path:
    """``results.json`` and ``index.html``, whose path is returned."""
    means = {name: found.means() for name, found in results.items()}
    notes = notes_of(results)
    write_json(
        out / "results.json",
        {
            "test": {name: {m: _plain(v) for m, v in row.items()} for name, row in means.items()},
            "best_epoch": trained.best,
            "epochs": len(trained.history),
            "warm_start_epochs": trained.warm,
            "counts": dict(counts),
            "notes": notes,
        },
    )
    sections = [
        verdict.section(),
        Section(
            "How good the recommendations are",
            [
                "Every user ranks all the items of the catalog that they had not seen in the "
                "training and validation parts, and is judged by their positives of the test part.",
                *notes,
            ],
            tables=[results_table(results)],
        ),
        Section("Training", [course(settings, trained)], figures=[_curve(settings, trained)]),
        Section(
            "Data", tables=[Table(("what", "number"), [(n, f"{v:,}") for n, v in counts.items()])]
        ),
        Section(
            "Settings",
            tables=[
                Table(("setting", "value"), [(n, v) for n, v in settings.model_dump().items()])
            ],
        ),
    ]
    return write_whole(out / "index.html", render_report("Recommendations", sections))


def results_table(results: Mapping[str, Evaluation]) -> Table:
    """One row for each metric, one column for each recommender."""
    means = {name: found.means() for name, found in results.items()}
    names = list(next(iter(means.values()))) if means else []
    n = max((mean.n for row in means.values() for mean in row.values()), default=0)
    return Table(
        ("metric", *means),
        [(name, *(row[name] for row in means.values())) for name in names],
        f"Means over {n} users of the test part; ± is a 95 % interval over them, not over "
        "trainings.",
    )


def course(settings: Settings, trained: Trained) -> str:
    """Which epoch was kept, and whether it was one of the objective."""
    if trained.best == 0:
        return (
            f"{len(trained.history)} epochs; none was as good on validation as the start, "
            f"{settings.metric} {trained.start:.4f}, which is the model."
        )
    value = trained.history[trained.best - 1][settings.metric]
    said = (
        f"{len(trained.history)} epochs; the best {settings.metric} on validation, {value:.4f}, "
        f"was that of epoch {trained.best}, which is the model."
    )
    if trained.warm:
        said += f" The first {trained.warm} were a warm start by softmax."
        if trained.best <= trained.warm:
            said += f" {settings.objective} did not make it better on validation."
    return said


def notes_of(results: Mapping[str, Evaluation]) -> list[str]:
    """What is to be said of the users, once."""
    return list(dict.fromkeys(note for found in results.values() for note in found.notes()))


def _plain(mean: object) -> dict[str, float | int | None]:
    # JSON has no word for NaN.
    return {k: None if v != v else v for k, v in vars(mean).items()}  # noqa: PLR0124


def _curve(settings: Settings, trained: Trained) -> Figure:
    canvas = Canvas(figsize=(7.0, 3.2), layout="constrained")
    axes = canvas.subplots()
    epochs = [row["epoch"] for row in trained.history]
    values = [row[settings.metric] for row in trained.history]
    axes.plot(epochs, values, ".-", color="#00796b", linewidth=1.1)
    kept = values[trained.best - 1] if trained.best else trained.start
    axes.plot(trained.best, kept, "o", color="#b71c1c", markersize=6)
    if 0 < trained.warm < len(epochs):
        axes.axvline(trained.warm + 0.5, color="#5b6770", linewidth=0.8, linestyle=":")
        axes.annotate(
            f" {settings.objective}",
            (trained.warm + 0.5, 0.02),
            xycoords=("data", "axes fraction"),
            fontsize=8,
            color="#5b6770",
        )
    axes.set_xlabel("epoch", fontsize=9)
    axes.set_ylabel(f"{settings.metric}, validation", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    buffer = io.BytesIO()
    # Without the date and version the same data make the same file.
    canvas.savefig(buffer, format="png", dpi=130, metadata={"Software": None})
    words = (
        f"{settings.metric} on validation over {len(values)} epochs, from {values[0]:.4f} to "
        f"{values[-1]:.4f}; the epoch that was kept is marked."
    )
    return Figure(buffer.getvalue(), words, words)
