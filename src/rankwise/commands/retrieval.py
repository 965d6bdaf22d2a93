"""``rankwise retrieval``: image embeddings trained on, and evaluated by, the order of a gallery."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.commands.guard import Debug
from rankwise.commands.image_runs import (
    Broken,
    Modules,
    Part,
    Root,
    Workers,
    at_root,
    image_app,
    report_once,
)
from rankwise.commands.options import Run
from rankwise.commands.shared import one_line, say, show

if TYPE_CHECKING:
    from rankwise.data.images import RetrievalSplits
    from rankwise.retrieval import RetrievalResult
    from rankwise.tasks.retrieval.settings import Settings


def _modules() -> Modules[Settings, RetrievalSplits, dict[str, dict[str, RetrievalResult]]]:
    from rankwise.tasks.retrieval import pipeline, report  # noqa: PLC0415  (takes seconds)
    from rankwise.tasks.retrieval.settings import Settings  # noqa: PLC0415

    return Modules(Settings, pipeline, report)


app = image_app(
    _modules,
    "retrieval",
    "Train an embedding of images on the order of a gallery, evaluate it, and search with it.",
    "Train, keep the best network on validation, evaluate it on the whole test gallery.",
)


@app.command()
def evaluate(  # noqa: PLR0917
    run: Run,
    root: Root = None,
    part: Part = "test",
    out: Annotated[
        Path | None, typer.Option(help="JSON file for all metrics and the precision-recall curve.")
    ] = None,
    skip_broken: Broken = False,
    workers: Workers = 0,
    debug: Debug = False,
) -> None:
    """Evaluate a finished run on the whole gallery of its test images, or of another part."""
    with one_line(debug=debug):
        from rankwise.report import write_json  # noqa: PLC0415
        from rankwise.tasks.retrieval.evaluate import as_json, evaluate_splits  # noqa: PLC0415
        from rankwise.tasks.retrieval.report import results_table  # noqa: PLC0415

        settings, network, splits = _opened(run, root, part, skip_broken)
        found = evaluate_splits(network, splits, settings, part, workers=workers)
        show(results_table({settings.objective.short: found}))
        if out is not None:
            write_json(out, {name: as_json(result) for name, result in found.items()})


@app.command()
def index(  # noqa: PLR0917
    run: Run,
    root: Root = None,
    part: Part = "test",
    images: Annotated[
        Path | None, typer.Option(help="Folder of your own images; subfolders are included.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="npz file to write. Default: index.npz of the run.")
    ] = None,
    approximate: Annotated[
        bool,
        typer.Option(
            "--approximate",
            help="Build a faiss index for approximate search, and report its recall.",
        ),
    ] = False,
    skip_broken: Broken = False,
    workers: Workers = 0,
    debug: Debug = False,
) -> None:
    """Write the embeddings of a part of the data, or of a folder of images, to search in."""
    with one_line(debug=debug):
        from rankwise.tasks.retrieval import index as indexing  # noqa: PLC0415
        from rankwise.tasks.retrieval.pipeline import load_run  # noqa: PLC0415

        if images is None:
            settings, network, splits = _opened(run, root, part, skip_broken)
            chosen = getattr(splits, part)
        else:
            settings, network = load_run(run)
            chosen = indexing.images_in(images, report_once() if skip_broken else None)
        made = indexing.make_index(network, chosen, settings.augmentations, workers=workers)
        lines = [f"{len(made.paths):,} images, {made.embeddings.shape[1]} dimensions"]
        if approximate:
            made, recall = indexing.with_cells(made)
            assert made.cells is not None
            probes, cells = made.cells.probes, len(made.cells.centers)
            lines.append(f"a search looks into {probes:,} of {cells:,} cells: {recall}")
        path = indexing.write_index(out or run / "index.npz", made)
        say([*lines, str(path)])


@app.command()
def search(  # noqa: PLR0917
    image: Annotated[Path, typer.Argument(help="Query image.")],
    run: Annotated[Path, typer.Option(help="Folder of a finished run.")] = Path("runs/retrieval"),
    within: Annotated[
        Path | None,
        typer.Option("--index", help="npz file written by `index`. Default: index.npz of the run."),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Number of images to print.")] = 10,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact", help="Search exactly in an index that was made with --approximate."
        ),
    ] = False,
    debug: Debug = False,
) -> None:
    """Print the images of an index that are nearest to an image, with their cosines."""
    with one_line(debug=debug):
        from rankwise.data.images.image_file import read_image  # noqa: PLC0415
        from rankwise.report import Table  # noqa: PLC0415
        from rankwise.tasks.retrieval import index as indexing  # noqa: PLC0415
        from rankwise.tasks.retrieval.pipeline import load_run  # noqa: PLC0415

        settings, network = load_run(run)
        known = indexing.read_index(within or run / "index.npz")
        found = indexing.search(
            network, known, read_image(image), settings.augmentations, top, exact=exact
        )
        rows = [(i, f"{one.score:.4f}", one.label, one.path) for i, one in enumerate(found, 1)]
        caption = f"of {len(known.paths):,} images, by cosine"
        if known.cells is not None and not exact:
            caption += f"; looked for in {known.cells.probes} of {len(known.cells.centers)} cells"
        show(Table(("rank", "score", "class", "image"), rows, caption))


def _opened(run: Path, root: Path | None, part: str, skip_broken: bool) -> tuple[Any, Any, Any]:
    """Settings, network and images of a finished run; ``root`` is where they are now."""
    from rankwise.settings import require_choice  # noqa: PLC0415
    from rankwise.tasks.retrieval import pipeline  # noqa: PLC0415
    from rankwise.vision.files import CONFIG  # noqa: PLC0415

    require_choice("--part", part, ("test", "validation", "train"))
    settings, network = pipeline.load_run(run)
    settings = type(settings).read(run / CONFIG, at_root(root))
    splits = pipeline.open_data(settings, run=run, skip_broken=skip_broken)
    say(splits.remarks, error=True)
    return settings, network, splits
