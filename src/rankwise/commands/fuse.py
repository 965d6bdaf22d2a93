"""``rankwise fuse``: one ranking of the scores of several systems."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypedDict

import typer

from rankwise.commands.console import refuse, require_other, say, write_frame
from rankwise.errors import UsageError
from rankwise.tasks import compare as task  # its modules are imported where they are used

Files = Annotated[list[Path], typer.Argument(help="Tables with scores, one per system.")]
METHODS: dict[str, Literal["rrf", "combsum", "combmnz"]] = {
    "rrf": "rrf",
    "combsum": "combsum",
    "combmnz": "combmnz",
}


class FusionOptions(TypedDict):
    """The options of a fusion, as the library calls them."""

    method: Literal["rrf", "combsum", "combmnz"]
    k: float
    normalize: Literal["min_max", "none"]


def fusion_options(method: str, k: float, normalize: str) -> FusionOptions:
    """Check the options of a fusion and return them as the library takes them."""
    if method not in METHODS:
        raise UsageError(f"--method must be one of {', '.join(METHODS)}, got {method!r}")
    if normalize not in ("min-max", "none"):
        raise UsageError(f"--normalize must be min-max or none, got {normalize!r}")
    if not k > 0:
        raise UsageError(f"--k must be above 0, got {k}; 60 is the value of the paper")
    scale: Literal["min_max", "none"] = "none" if normalize == "none" else "min_max"
    return {"method": METHODS[method], "k": k, "normalize": scale}


def fuse(  # noqa: PLR0917  (a command line is called by names)
    files: Files,
    identity: Annotated[
        str | None,
        typer.Option("--id", help="Columns that identify an item, separated by commas."),
    ] = None,
    score: str = "score",
    group: str | None = None,
    keep: str | None = None,
    method: str = "rrf",
    k: float = 60.0,
    normalize: str = "min-max",
    out: Path | None = None,
) -> None:
    """Combine the scores of several files into one, by rank or by score.

    Args:
        score: Column of the scores, higher first.
        group: Column with the list (query, user) of each row.
        keep: Additional columns to write, separated by commas, from the first file with the row.
        method: Fusion method: rrf (reciprocal rank fusion), combsum or combmnz.
        k: Constant of rrf; the larger, the less the first ranks count.
        normalize: Normalization of the scores per list, for combsum and combmnz: min-max or none.
        out: File to write (csv, or .parquet) rather than print.
    """
    if identity is None:
        refuse(
            "--id must be given: name the column, or columns separated by commas, by which rows of "
            "the files are matched"
        )
    options = fusion_options(method, k, normalize)
    require_other("--out", out, *files)
    fused = task.fuse_files(
        files,
        ids=_columns("--id", identity),
        score=score,
        group=group,
        keep=_columns("--keep", keep) if keep is not None else (),
        **options,
    )
    write_frame(fused, out)
    if out is not None:
        alone = int((fused["systems"] < len(files)).sum())
        say([f"{len(fused)} rows, {alone} of them not in every file: {out}"], error=True)


def _columns(option: str, text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError(f"{option} must name columns, separated by commas, got {text!r}")
    return names
