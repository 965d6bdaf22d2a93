"""``rankwise predict``: scores of new rows by a model that was saved."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from rankwise.commands.console import complaints
from rankwise.commands.guard import Debug, guarded
from rankwise.commands.outputs import require_other

__all__ = ["predict"]


def predict(
    model: Annotated[
        Path, typer.Argument(help="Folder of a run or of its model, or file of an estimator.")
    ],
    data: Annotated[Path, typer.Argument(help="Rows to score: csv, parquet or svmlight.")],
    out: Annotated[
        Path | None, typer.Option(help="File to write (csv, or .parquet) rather than print.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Scores and probabilities of the rows of a file, in its order."""
    with guarded(debug=debug):
        # Here, so that the other commands do not wait for the estimators.
        from rankwise.tasks.compare.predicting import predict_file  # noqa: PLC0415

        require_other("--out", out, data, model)
        with complaints().status("predicting …"):
            found = predict_file(model, data)
        if out is None:
            sys.stdout.write(found.csv())
        else:
            found.write(out)
