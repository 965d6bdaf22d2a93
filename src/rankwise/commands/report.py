"""``rankwise report``: the page of a comparison, written again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankwise.commands.console import paper
from rankwise.commands.guard import Debug, guarded


def report(
    folder: Annotated[Path, typer.Argument(help="Folder of a run of `rankwise compare`.")],
    debug: Debug = False,
) -> None:
    """Write the report of a comparison again, from its results and predictions."""
    with guarded(debug=debug):
        # Here, so that the other commands wait for neither.
        from rankwise.data import DataError  # noqa: PLC0415
        from rankwise.report.comparison import write_report  # noqa: PLC0415

        try:
            page = write_report(folder)
        except ValueError as error:  # a folder that is no run, or a broken one
            raise DataError(str(error)) from error
    paper().print(str(page), style="bold", highlight=False, markup=False, soft_wrap=True)
