"""``rankwise contrast``: image networks trained without labels."""

from __future__ import annotations

from pathlib import Path

from rankwise import training
from rankwise.commands.app import App, add_config
from rankwise.commands.console import require_folder, say, show, steps_shown
from rankwise.commands.options import Out, Resume
from rankwise.tasks import contrast as task  # its modules are imported where they are used
from rankwise.tasks.contrast.settings import Settings

app = App(help="Train an image network without labels, by contrastive learning.")
add_config(app, lambda: Settings)

_STOPPED = "stopped; the same command with --resume continues after the last whole epoch"


@app.command(stopped=_STOPPED, trains=True)
def train(
    data: Path, settings: Settings, out: Out = Path("runs/contrast"), resume: Resume = False
) -> None:
    """Train on two augmentations of every image, then measure a linear probe and retrieval.

    Args:
        data: npz file with x_train, y_train, x_test, y_test and classes.
    """
    require_folder(out)
    images, epochs = task.read_images(data), settings.epochs
    steps = task.steps_per_epoch(images, settings, training.world_size())
    epoch = f"epoch {{task.fields[epoch]}}/{epochs}"
    with steps_shown(epoch, "loss {task.fields[loss]}", epochs * steps) as advance:
        finished = task.run(images, settings, out, resume=resume, on_step=advance)
    if finished.report is not None and finished.verdict is not None:
        show(task.results_table(finished.results))
        say([*finished.verdict.lines(), str(finished.report)])
