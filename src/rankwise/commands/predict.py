"""``rankwise predict``: scores and probabilities of rows by a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankwise.commands.console import complaints, refuse, require_other, say, write_frame
from rankwise.tasks import compare as task  # its modules are imported where they are used


def predict(  # noqa: PLR0917  (a command line is called by names)
    model: Path,
    data: Annotated[
        Path | None,
        typer.Argument(
            help="Rows to score: csv, parquet or svmlight. With --part: the run's data file, if it "
            "was moved."
        ),
    ] = None,
    part: str | None = None,
    keep: list[str] | None = None,
    out: Path | None = None,
    from_hub: bool = False,
) -> None:
    """Score the rows of a file, or a run's own test rows: score and probability, in file order.

    With more than two classes: the most likely class, and a score and probability for each.

    Args:
        model: Folder of a run or of its model, or file of an estimator.
        part: Part of the run's own data to score: test, validation or train.
        keep: Columns of the data to write before the scores, separated by commas, or all; may be
            repeated.
        out: File to write (csv, or .parquet) rather than print.
        from_hub: MODEL is a repository of the Hugging Face Hub, such as me/fraud; download it.
    """
    if from_hub:
        from rankwise.report import hub  # noqa: PLC0415  (an extra)

        model = hub.from_hub(str(model))
    rows = None
    if part is not None:
        rows, data = task.rows_of_part(model, part), task.data_of_run(model, data)
    if data is None:
        refuse(
            f"DATA is missing: pass the rows to score (rankwise predict {model} DATA), or "
            "--part test for the rows that a run held out"
        )
    require_other("--out", out, data, model)
    with complaints().status("predicting …"):
        found = task.predict_file(model, data, keep=keep or (), rows=rows)
    write_frame(found.frame, out)
    written = [] if out is None else [f"{found.frame.height:,} rows: {out}"]
    said = [*written, *found.remarks, *([found.warning] if found.warning else [])]
    say(said, error=True)
