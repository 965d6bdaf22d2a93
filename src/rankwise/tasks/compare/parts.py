"""The rows of a run's own parts: train, validation and the held-out test rows."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rankwise.data import DataError, Split
from rankwise.report.comparison.run import read_object
from rankwise.report.files import read_arrays, write_arrays
from rankwise.tasks.compare.config import CONFIG, digest_of
from rankwise.training import command_of

Rows = NDArray[np.int64]

PARTS = ("test", "validation", "train")
_FILE = "parts.npz"


def write_parts(folder: Path, parts: Split) -> Path:
    """Write the row numbers of every part into the folder of a run."""
    return write_arrays(folder / _FILE, {name: getattr(parts, name) for name in PARTS})


def rows_of_part(run: Path, part: str) -> Rows:
    """The row numbers of a part, from 0, in the order of the file."""
    if part not in PARTS:
        raise DataError(f"--part must be one of {', '.join(PARTS)}, got {part!r}")
    require_run(run)
    try:
        found = read_arrays(run / _FILE)[part]
    except FileNotFoundError:
        raise DataError(
            f"{run}: has no {_FILE}, which an earlier rankwise did not write; "
            "repeat its `rankwise compare` with --resume, which trains nothing again"
        ) from None
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"{run / _FILE}: holds no rows of a run: {error}") from error
    if not len(found):
        raise DataError(
            f"{run}: has no {part} part: it was tested by --repeats, and its model has learned "
            f"from all rows; pass --part train, or `rankwise evaluate {run}`"
        )
    return found


def data_of_run(run: Path, moved: Path | None = None) -> Path:
    """The file that a run read, or where it is now; refused where its content is another.

    The content is compared by its SHA-256: row numbers of another file would be other rows.
    """
    require_run(run)
    try:
        config = read_object(run / CONFIG)
        path, known = moved or Path(str(config["data"])), config["sha256"]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{run / CONFIG}: does not say which data the run read: {error}") from error
    if not path.is_file():
        raise DataError(
            f"{path}: there is no such file, and the run in {run} read its rows from it; "
            f"pass its new place: rankwise predict {run} DATA --part …"
        )
    found = digest_of(path)
    if found != known:
        raise DataError(
            f"{path}: is not the file that the run in {run} read: its SHA-256 begins with "
            f"{found[:8]}, that of the run's data with {str(known)[:8]}; pass the unchanged file: "
            f"rankwise predict {run} DATA --part …"
        )
    return path


def require_run(folder: Path) -> None:
    """Raise where a folder holds no fitted run of ``rankwise compare``."""
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "there is no such folder"
        raise DataError(f"{folder}: {what}; pass the folder of a run of `rankwise compare`")
    held = command_of(folder)
    if held != "compare":
        what = "no run" if held is None else f"a run of `rankwise {held}`"
        raise DataError(f"{folder}: holds {what}; pass the folder of a run of `rankwise compare`")
    if not (folder / "results.json").exists():
        raise DataError(
            f"{folder}: the run is not fitted; repeat its `rankwise compare` with --resume"
        )
