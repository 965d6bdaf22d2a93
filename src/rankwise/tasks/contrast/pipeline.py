"""A whole run: train, evaluate the features, write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Unpack

import torch

from rankwise.report import Figure, Section, Table, write_json
from rankwise.report.plots import COLORS, as_figure, new_axes
from rankwise.report.verdict import Verdict, lower_rate, verdict
from rankwise.tasks.contrast.data import Images
from rankwise.tasks.contrast.evaluate import Evaluation, evaluate
from rankwise.tasks.contrast.settings import Settings
from rankwise.tasks.contrast.task import ContrastNet, new_network, train
from rankwise.vision.files import CONFIG, load_state, require_finished, write_model
from rankwise.vision.run import ImageOptions, RunResult, Trained, image_run, write_report


def run(
    images: Images, settings: Settings, out: Path, **options: Unpack[ImageOptions]
) -> RunResult[Evaluation, Trained[ContrastNet]]:
    """Train into the folder ``out``, then evaluate the network and the untrained one.

    A folder that holds a run already is only touched with ``resume``, which continues it.
    """
    with image_run(out, "contrast", settings, **options) as folder:
        trained = train(images, settings, folder, **options)
        if folder is None:
            return RunResult({}, trained)
        with torch.random.fork_rng(devices=[]):
            untrained = new_network(images, settings)
        results = {
            "untrained": evaluate(untrained, images),
            settings.objective: evaluate(trained.network, images),
        }
        before, after = results.values()
        said = verdict(
            "mAP of retrieval",
            test=(before.retrieval.value, after.retrieval.value),
            advice=_advice(settings, len(images.x_train)),
        )
        report = write_results(out, settings, images, trained, results, verdict=said)
        return RunResult(results, trained, report, said)


def write_results(
    out: Path,
    settings: Settings,
    images: Images,
    trained: Trained[ContrastNet],
    results: Mapping[str, Evaluation],
    *,
    verdict: Verdict,
) -> Path:
    """Write ``model.safetensors``, ``results.json`` and ``index.html``, whose path is returned."""
    write_model(out, trained.network)
    write_json(out / "results.json", {name: asdict(result) for name, result in results.items()})
    section = Section(
        "Quality of the features",
        ["The network is frozen; every number is of test images it was not trained on."],
        tables=[results_table(results)],
    )
    sizes = f"{len(images.x_train)} training and {len(images.x_test)} test images"
    return write_report(
        out,
        "Contrastive training",
        [section],
        training=Section("Training", figures=[_curve(trained.history)]),
        data=[f"{sizes} of {len(images.classes)} classes"],
        settings=settings,
        verdict=verdict,
    )


def load_network(out: Path) -> ContrastNet:
    """Load the network of a finished run, in evaluation mode."""
    require_finished(out)
    settings = Settings.read(out / CONFIG)
    return load_state(out, lambda state: ContrastNet(settings.width, settings.dimension))


def results_table(results: Mapping[str, Evaluation]) -> Table:
    """Return one row for each network."""
    rows = [(name, result.probe, result.retrieval) for name, result in results.items()]
    n = max((result.probe.n for result in results.values()), default=0)
    return Table(
        ("network", "linear probe, accuracy", "retrieval, mAP"),
        rows,
        f"{n} test images; ± is a 95 % interval over them, not over trainings.",
    )


def _curve(history: list[dict[str, float]]) -> Figure:
    canvas, axes = new_axes("epoch", "mean loss of the batches")
    losses = [row["loss"] for row in history]
    axes.plot([row["epoch"] for row in history], losses, ".-", color=COLORS[1], linewidth=1.1)
    words = f"The loss over {len(history)} epochs, from {losses[0]:.3f} to {losses[-1]:.3f}."
    return as_figure(canvas, words)


def _advice(settings: Settings, images: int) -> list[str]:
    """Return changes of settings to try, the most likely one first."""
    advice = [lower_rate("--learning-rate", settings.learning_rate)]
    if 2 * settings.batch <= images:
        advice.append(f"larger batches, --batch {2 * settings.batch}")
    advice.append(f"another temperature, --temperature {settings.temperature * 2.5:g}")
    advice.append(f"fewer or more passes over the images, --epochs (it was {settings.epochs})")
    return advice
