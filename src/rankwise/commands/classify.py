"""``rankwise classify``: classifiers trained on, and evaluated by, how each class ranks images."""

from __future__ import annotations

from pathlib import Path

from rankwise import report
from rankwise.commands import image_tasks
from rankwise.commands.console import say, show
from rankwise.commands.options import Run
from rankwise.tasks import classification as task  # its modules are imported where they are used

app = image_tasks.image_app(
    task,
    "Train an image classifier on the average precision of each class, and evaluate it.",
    "Train, keep the best network on validation, evaluate it on the test images.",
)


@app.command()
def evaluate(  # noqa: PLR0917
    run: Run,
    root: image_tasks.Root = None,
    part: image_tasks.Part = "test",
    out: Path | None = None,
    skip_broken: image_tasks.Broken = False,
    workers: image_tasks.Workers = 0,
) -> None:
    """Evaluate a finished run on its test images, or on another part, class by class.

    Args:
        out: JSON file for all metrics, per class.
    """
    image_tasks.require_part(part)
    settings, network = task.load_run(run, image_tasks.at_root(root))
    splits = task.open_data(settings, run=run, skip_broken=skip_broken)
    say(splits.remarks, error=True)
    found = task.evaluate_part(network, splits, settings, part, workers=workers)
    show(task.results_table({settings.objective.short: found}))
    show(task.classes_table(found))
    if out is not None:
        report.write_json(out, task.as_json(found))
