"""``rankwise classify``: classifiers trained on, and evaluated by, how each class ranks images."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankwise.commands import image_tasks
from rankwise.commands.app import Run
from rankwise.commands.console import say, show


def _load() -> image_tasks.ImageTask:
    from rankwise.tasks.classification import pipeline  # noqa: PLC0415  (takes seconds)
    from rankwise.tasks.classification.evaluate import results_table  # noqa: PLC0415
    from rankwise.tasks.classification.settings import Settings  # noqa: PLC0415

    return image_tasks.ImageTask(
        Settings, pipeline.open_data, pipeline.run, results_table, pipeline.fit_settings
    )


app = image_tasks.image_app(
    _load,
    "classification",
    "Train a classifier of images on how each class ranks them, and evaluate it.",
    "Train, keep the best network on validation, evaluate it on the test images.",
)


@app.command()
def evaluate(  # noqa: PLR0917
    run: Run,
    root: image_tasks.Root = None,
    part: image_tasks.Part = "test",
    out: Annotated[Path | None, typer.Option(help="JSON file for all metrics, per class.")] = None,
    skip_broken: image_tasks.Broken = False,
    workers: image_tasks.Workers = 0,
) -> None:
    """Evaluate a finished run on its test images, or on another part, class by class."""
    from rankwise.report import write_json  # noqa: PLC0415
    from rankwise.tasks.classification import evaluate as metrics  # noqa: PLC0415
    from rankwise.tasks.classification import pipeline  # noqa: PLC0415

    image_tasks.require_part(part)
    settings, network = pipeline.load_run(run, image_tasks.at_root(root))
    splits = pipeline.open_data(settings, run=run, skip_broken=skip_broken)
    say(splits.remarks, error=True)
    found = pipeline.evaluate_part(network, splits, settings, part, workers=workers)
    show(metrics.results_table({settings.objective.short: found}))
    show(metrics.classes_table(found))
    if out is not None:
        write_json(out, metrics.as_json(found))
