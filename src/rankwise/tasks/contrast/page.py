"""What a run leaves behind: the model, the numbers, and a page to look at."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from pathlib import Path

from matplotlib.figure import Figure as Canvas
from safetensors.torch import load_file, save

from rankwise.report import Figure, Section, Table, render_report, write_json, write_whole
from rankwise.report.verdict import Verdict
from rankwise.tasks.contrast.evaluation import Evaluation
from rankwise.tasks.contrast.network import ContrastNet
from rankwise.tasks.contrast.settings import Settings
from rankwise.tasks.contrast.training import Trained
from rankwise.training import require_unchanged

__all__ = ["load_network", "results_table", "write_config", "write_results"]


def write_config(out: Path, settings: Settings) -> None:
    """``config.json``: the settings of the run."""
    write_json(out / "config.json", settings.model_dump())


def write_results(
    out: Path,
    settings: Settings,
    trained: Trained,
    results: dict[str, Evaluation],
    verdict: Verdict,
) -> Path:
    """``model.safetensors``, ``results.json`` and ``index.html``, whose path is returned."""
    state = {name: t.contiguous() for name, t in trained.network.state_dict().items()}
    write_whole(out / "model.safetensors", save(state))
    write_json(out / "results.json", {name: asdict(found) for name, found in results.items()})
    sections = [
        verdict.section(),
        Section(
            "How good the features are",
            ["The network is frozen; every number is of test images it was not trained on."],
            tables=[results_table(results)],
        ),
        Section("Training", figures=[_curve(trained.history)]),
        Section(
            "Settings",
            tables=[
                Table(("setting", "value"), [(n, v) for n, v in settings.model_dump().items()])
            ],
        ),
    ]
    return write_whole(out / "index.html", render_report("Contrastive training", sections))


def load_network(out: Path) -> ContrastNet:
    """The network of a finished run, in the mode of evaluation."""
    require_unchanged(out, "model.safetensors")
    settings = Settings(**json.loads((out / "config.json").read_text()))
    network = ContrastNet(settings.width, settings.dimension)
    network.load_state_dict(load_file(out / "model.safetensors"))
    return network.eval()


def results_table(results: dict[str, Evaluation]) -> Table:
    """One row for each network."""
    rows = [(name, found.probe, found.retrieval) for name, found in results.items()]
    n = max((found.probe.n for found in results.values()), default=0)
    return Table(
        ("network", "linear probe, accuracy", "retrieval, mAP"),
        rows,
        f"{n} test images; ± is a 95 % interval over them, not over trainings.",
    )


def _curve(history: list[dict[str, float]]) -> Figure:
    canvas = Canvas(figsize=(7.0, 3.2), layout="constrained")
    axes = canvas.subplots()
    epochs, losses = [row["epoch"] for row in history], [row["loss"] for row in history]
    axes.plot(epochs, losses, ".-", color="#00796b", linewidth=1.1)
    axes.set_xlabel("epoch", fontsize=9)
    axes.set_ylabel("mean loss of the batches", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    buffer = io.BytesIO()
    # Without the date and version the same data make the same file.
    canvas.savefig(buffer, format="png", dpi=130, metadata={"Software": None})
    words = f"The loss over {len(history)} epochs, from {losses[0]:.3f} to {losses[-1]:.3f}."
    return Figure(buffer.getvalue(), words, words)
