"""``rankwise rank predict``: scores of documents nobody has judged."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from rankwise.commands.guard import Debug
from rankwise.commands.outputs import require_other
from rankwise.commands.shared import one_line, say


def predict(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    data: Annotated[
        Path, typer.Argument(help="Lists to score, as for train; relevances may be missing.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="File to write: a table (.csv), else a run of TREC. Default: print csv."),
    ] = None,
    debug: Debug = False,
) -> None:
    """Score the documents of lists, judged or not: query, document, rank, score."""
    with one_line(debug=debug):
        from rankwise.data.letor import read_letor, write_run  # noqa: PLC0415  (seconds to import)
        from rankwise.report import write_whole  # noqa: PLC0415
        from rankwise.tasks import ranking as task  # noqa: PLC0415

        require_other("--out", out, data, run / "model.ranker", run / "config.json")
        _, ranker = task.load_run(run)
        lists = read_letor(data, judged=False)
        scores = task.scores_of(ranker, lists)
        if out is not None and out.suffix != ".csv":
            write_run(out, task.as_run(lists, scores))
        else:
            buffer = io.BytesIO()
            task.scores_frame(lists, scores).write_csv(buffer)
            if out is None:
                sys.stdout.write(buffer.getvalue().decode())
            else:
                write_whole(out, buffer.getvalue())
        counts = f"{len(lists):,} documents of {len(lists.queries):,} queries"
        say([counts if out is None else f"{counts}: {out}"], error=True)
