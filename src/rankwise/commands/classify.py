"""``rankwise classify``: classifiers trained on, and evaluated by, how each class ranks images."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankwise.commands.console import say, show
from rankwise.commands.image_tasks import (
    Broken,
    ImageTask,
    Part,
    Root,
    Workers,
    image_app,
    require_part,
    run_settings,
)
from rankwise.commands.options import Run

if TYPE_CHECKING:
    from rankwise.data.images.image_set import ClassSplits
    from rankwise.tasks.classification.evaluate import Evaluation
    from rankwise.tasks.classification.network import Classifier
    from rankwise.tasks.classification.settings import Settings
    from rankwise.vision.run import Trained


def _load() -> ImageTask[Settings, ClassSplits, Evaluation, Trained[Classifier]]:
    from rankwise.tasks.classification import pipeline, report  # noqa: PLC0415  (takes seconds)
    from rankwise.tasks.classification.settings import Settings  # noqa: PLC0415

    return ImageTask(
        Settings, pipeline.open_data, pipeline.fit_settings, pipeline.run, report.results_table
    )


app = image_app(
    _load,
    "classification",
    "Train a classifier of images on how each class ranks them, and evaluate it.",
    "Train, keep the best network on validation, evaluate it on the test images.",
)


@app.command()
def evaluate(  # noqa: PLR0917
    run: Run,
    root: Root = None,
    part: Part = "test",
    out: Annotated[Path | None, typer.Option(help="JSON file for all metrics, per class.")] = None,
    skip_broken: Broken = False,
    workers: Workers = 0,
) -> None:
    """Evaluate a finished run on its test images, or on another part, class by class."""
    from rankwise.report import write_json  # noqa: PLC0415
    from rankwise.tasks.classification import pipeline, report  # noqa: PLC0415
    from rankwise.tasks.classification.evaluate import as_json  # noqa: PLC0415

    require_part(part)
    settings, network = pipeline.load_run(run)
    settings = run_settings(type(settings), run, root)
    splits = pipeline.open_data(settings, run=run, skip_broken=skip_broken)
    say(splits.remarks, error=True)
    found = pipeline.evaluate_part(network, splits, settings, part, workers=workers)
    show(report.results_table({settings.objective.short: found}))
    show(report.classes_table(found))
    if out is not None:
        write_json(out, as_json(found))
