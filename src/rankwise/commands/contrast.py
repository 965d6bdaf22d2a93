"""``rankwise contrast``: image networks trained without labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from rankwise.commands.app import App
from rankwise.commands.console import complaints, paper
from rankwise.commands.guard import Debug
from rankwise.commands.outputs import require_folder
from rankwise.commands.shared import Seed, one_line, say, show

__all__ = ["app"]

app = App()


@app.callback()
def contrast() -> None:
    """Train an image network without labels, by contrastive learning."""


@app.command()
def train(  # noqa: PLR0917  (a command line is called by names)
    data: Annotated[
        Path, typer.Argument(help="npz file with x_train, y_train, x_test, y_test and classes.")
    ],
    objective: Annotated[
        str, typer.Option(help="Loss: global_contrastive (SogCLR) or nt_xent (SimCLR).")
    ] = "global_contrastive",
    temperature: Annotated[
        float, typer.Option(help="Temperature of the cosine similarities.")
    ] = 0.2,
    ema_rate: Annotated[float, typer.Option(help="Rate of the moving average per image.")] = 0.9,
    batch: Annotated[int, typer.Option(help="Batch size (images; each in two views).")] = 64,
    epochs: Annotated[int, typer.Option(help="Number of epochs.")] = 100,
    optimizer: Annotated[str, typer.Option(help="Optimizer: adamw or sgd.")] = "adamw",
    learning_rate: Annotated[
        float, typer.Option(help="Initial learning rate; decays to 0 as a cosine.")
    ] = 1e-3,
    weight_decay: Annotated[float, typer.Option(help="Weight decay.")] = 1e-4,
    width: Annotated[int, typer.Option(help="Number of channels of the first layer.")] = 32,
    dimension: Annotated[int, typer.Option(help="Dimension of the embedding.")] = 64,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Output folder of the run.")] = Path("runs/contrast"),
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume the run in the output folder.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Train on two views of every image, then measure a linear probe and retrieval."""
    require_folder(out)
    stopped = "stopped; the same command with --resume goes on after the last whole epoch"
    with one_line(debug=debug, stopped=stopped):
        # Here, so that the other commands need neither kornia nor the seconds its import takes.
        from rankwise.tasks import contrast as task  # noqa: PLC0415

        settings = task.Settings.changed(
            {
                "objective": objective,
                "temperature": temperature,
                "ema_rate": ema_rate,
                "batch": batch,
                "epochs": epochs,
                "optimizer": optimizer,
                "learning_rate": learning_rate,
                "weight_decay": weight_decay,
                "width": width,
                "dimension": dimension,
                "seed": seed,
            }
        )
        images = task.read_images(data)
        steps = task.steps_per_epoch(images, settings)
        console = complaints()
        with Progress(
            TextColumn("epoch {task.fields[epoch]}/{task.fields[epochs]}"),
            BarColumn(),
            TextColumn("loss {task.fields[loss]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,  # a file or a pipe would get an empty line
        ) as progress:
            bar = progress.add_task("", total=epochs * steps, epoch=1, epochs=epochs, loss="–")

            def advance(step: task.Step) -> None:
                loss = f"{step.loss:.4f}"
                progress.update(bar, completed=step.step, epoch=step.epoch, loss=loss)

            finished = task.run(images, settings, out, resume=resume, on_step=advance)
    if finished.page is not None and finished.verdict is not None:
        show(task.results_table(finished.results))
        say(finished.verdict.lines())
        page = str(finished.page)
        paper().print(page, style="bold", highlight=False, markup=False, soft_wrap=True)
