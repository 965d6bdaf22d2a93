"""Options of commands that read interactions, and how they are read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rankwise.data.interactions import Interactions


Format = Annotated[
    str, typer.Option(help="Layout of the data: auto, ml-100k, ml-1m, ml-20m, recbole or columns.")
]
UserColumn = Annotated[str | None, typer.Option(help="User column (csv, parquet).")]
ItemColumn = Annotated[str | None, typer.Option(help="Item column.")]
RatingColumn = Annotated[str | None, typer.Option(help="Rating column.")]
TimeColumn = Annotated[str | None, typer.Option(help="Time column.")]
Duplicates = Annotated[
    str, typer.Option(help="Repeated pairs of user and item: error, or last to keep the last row.")
]
RatingRange = Annotated[str | None, typer.Option(help="Valid range of the ratings, such as 1:5.")]


def read(
    path: Path,
    format: str,
    columns: tuple[str | None, ...],
    limits: str | None,
    duplicates: str,
) -> Interactions:
    """Interactions as the options say; wrong options raise like wrong usage."""
    from rankwise.data import DataError  # noqa: PLC0415
    from rankwise.data.interactions import read_interactions  # noqa: PLC0415
    from rankwise.tasks.recommendation import UsageError  # noqa: PLC0415

    user, item, rating, time = columns
    try:
        return read_interactions(
            path,
            format=format,
            user=user,
            item=item,
            rating=rating,
            time=time,
            rating_range=None if limits is None else _range(limits),
            duplicates=duplicates,  # type: ignore[arg-type]  # checked there
        )
    except DataError:
        raise
    except ValueError as error:
        raise UsageError(str(error)) from None


def _range(text: str) -> tuple[float, float]:
    low, _, high = text.partition(":")
    try:
        found = float(low), float(high)
    except ValueError:
        raise ValueError(f"--rating-range must be two numbers such as 1:5, got {text!r}") from None
    if not found[0] < found[1]:
        raise ValueError(f"--rating-range must go upwards, got {text!r}")
    return found
