"""``rankwise retrieval``: image embeddings trained on, and evaluated by, the order of a gallery."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankwise import report
from rankwise.commands import image_tasks
from rankwise.commands.console import say, show
from rankwise.commands.options import Run
from rankwise.tasks import retrieval as task  # its modules are imported where they are used

app = image_tasks.image_app(
    task,
    "Train an image embedding on retrieval mAP, evaluate it, and search with it.",
    "Train, keep the best network on validation, evaluate it on the whole test gallery.",
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
    """Evaluate a finished run on the whole gallery of its test images, or of another part.

    Args:
        out: JSON file for all metrics and the precision-recall curve.
    """
    image_tasks.require_part(part)
    changes = image_tasks.at_root(root)
    settings, network, splits = task.open_run(run, changes, skip_broken=skip_broken)
    say(splits.remarks, error=True)
    galleries = task.embed_splits(network, splits, settings, part, workers=workers)
    found = {name: each.evaluate(settings.data.hits) for name, each in galleries.items()}
    show(task.results_table({settings.objective.short: found}))
    if out is not None:
        report.write_json(out, {name: task.as_json(result) for name, result in found.items()})


@app.command()
def index(  # noqa: PLR0917
    run: Run,
    root: image_tasks.Root = None,
    part: image_tasks.Part = "test",
    images: Path | None = None,
    out: Path | None = None,
    approximate: bool = False,
    skip_broken: image_tasks.Broken = False,
    workers: image_tasks.Workers = 0,
) -> None:
    """Write an index to search in: the embeddings of a part of the data or a folder of images.

    Args:
        images: Folder of your own images; subfolders are included.
        out: npz file to write. Default: index.npz of the run.
        approximate: Add cells for approximate search by faiss, and report its recall.
    """
    if images is None:
        image_tasks.require_part(part)
        changes = image_tasks.at_root(root)
        settings, network, splits = task.open_run(run, changes, skip_broken=skip_broken)
        say(splits.remarks, error=True)
        chosen = getattr(splits, part)
    else:
        settings, network = task.load_run(run)
        chosen = task.images_in(images, image_tasks.report_once() if skip_broken else None)
    made = task.make_index(network, chosen, settings.augmentations, workers=workers)
    lines = [f"{len(made.paths):,} images, {made.embeddings.shape[1]} dimensions"]
    if approximate:
        made, recall = task.with_cells(made)
        assert made.cells is not None
        probes, cells = made.cells.probes, len(made.cells.centers)
        lines.append(f"a search looks into {probes:,} of {cells:,} cells: {recall}")
    path = task.write_index(out or run / "index.npz", made)
    say([*lines, str(path)])


@app.command()
def search(
    image: Path,
    run: Path = Path("runs/retrieval"),
    within: Annotated[
        Path | None,
        typer.Option("--index", help="npz file written by `index`. Default: index.npz of the run."),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Number of images to print.")] = 10,
    exact: bool = False,
) -> None:
    """Print the images of an index that are nearest to an image, with their cosines.

    Args:
        image: Query image.
        run: Folder of a finished run.
        exact: Search exactly in an index that was made with --approximate.
    """
    from rankwise.data.images.image_file import read_image  # noqa: PLC0415

    settings, network = task.load_run(run)
    known = task.read_index(within or run / "index.npz")
    found = task.search(network, known, read_image(image), settings.augmentations, top, exact=exact)
    rows = [(i, f"{one.score:.4f}", one.label, one.path) for i, one in enumerate(found, 1)]
    caption = f"of {len(known.paths):,} images, by cosine"
    if known.cells is not None and not exact:
        caption += f"; looked for in {known.cells.probes} of {len(known.cells.centers)} cells"
    show(report.Table(("rank", "score", "class", "image"), rows, caption))
