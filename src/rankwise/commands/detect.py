"""``rankwise detect``: a detector trained on, and evaluated by, average precision."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankwise import report
from rankwise.commands import image_tasks
from rankwise.commands.console import require_folder, say, show
from rankwise.commands.options import Run
from rankwise.tasks import detection as task  # its modules are imported where they are used

app = image_tasks.image_app(
    task,
    "Train an object detector on average precision, evaluate it, and predict boxes.",
    "Train, keep the best detector on validation, evaluate it on the test images by COCO AP.",
    "AP",
)


@app.command()
def evaluate(
    run: Run,
    root: image_tasks.Root = None,
    part: image_tasks.Part = "test",
    out: Path | None = None,
    skip_broken: image_tasks.Broken = False,
) -> None:
    """Evaluate a finished run on its test images, or on another part, by COCO AP.

    Args:
        out: JSON file for all metrics, overall and per class.
    """
    image_tasks.require_part(part)
    kept = task.load_run(run, image_tasks.at_root(root))
    splits = task.open_data(kept.settings, classes=kept.classes, skip_broken=skip_broken)
    say(splits.issues.lines(), error=True)
    images = getattr(splits, part)
    detections = task.detect_all(kept.network, images, kept.settings)
    result = task.evaluate_detections(images, detections)
    show(task.results_table({kept.settings.objective.short: result}))
    if out is not None:
        report.write_json(out, {part: result.as_json()})


@app.command()
def predict(
    images: list[Path],
    run: Path = Path("runs/detection"),
    out: Path = Path("detections"),
    min_score: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Minimum score to draw. Default: the best threshold on validation."
        ),
    ] = None,
) -> None:
    """Draw the predicted boxes of images, with names and scores, and write them as JSON.

    Args:
        images: Image files.
        run: Folder of a finished run.
        out: Output folder of the drawn images.
    """
    require_folder(out)
    task.require_places(images, out)
    kept = task.load_run(run)
    for image in images:
        drawing, counts = task.predict(kept, image, out, min_score)
        counted = ", ".join(f"{n} {name}" for name, n in counts.items()) or "nothing"
        say([f"{image.name}: {counted}", str(drawing)])
