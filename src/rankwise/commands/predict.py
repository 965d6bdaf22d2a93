"""``rankwise predict``: scores of rows by a model that was saved."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from rankwise.commands.console import complaints, refuse
from rankwise.commands.guard import Debug, guarded
from rankwise.commands.outputs import require_other
from rankwise.commands.shared import say


def predict(  # noqa: PLR0917  (a command line is called by names)
    model: Annotated[
        Path, typer.Argument(help="Folder of a run or of its model, or file of an estimator.")
    ],
    data: Annotated[
        Path | None,
        typer.Argument(
            help="Rows to score: csv, parquet or svmlight. With --part: the run's data file, if it "
            "was moved."
        ),
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(help="Rows of the run itself to score: test, validation or train."),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns of the data to write before the scores, separated by commas, or all; "
            "may be repeated."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write (csv, or .parquet) rather than print.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Score the rows of a file, or a run's own test rows: score and probability, in file order."""
    with guarded(debug=debug):
        # Here, so that the other commands do not wait for the estimators.
        from rankwise.tasks.compare.predict import predict_file  # noqa: PLC0415
        from rankwise.tasks.compare.run_files import data_of_run, rows_of_part  # noqa: PLC0415

        rows = None
        if part is not None:
            rows, data = rows_of_part(model, part), data_of_run(model, data)
        if data is None:
            refuse(
                f"DATA is missing: pass the rows to score (rankwise predict {model} DATA), or "
                "--part test for the rows that a run held out"
            )
        require_other("--out", out, data, model)
        with complaints().status("predicting …"):
            found = predict_file(model, data, keep=keep or (), rows=rows)
        if out is None:
            sys.stdout.write(found.csv())
        else:
            found.write(out)
        say([*found.remarks, *([found.warning] if found.warning else [])], error=True)
