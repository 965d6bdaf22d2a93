"""The files of a run that say what it was asked to do and which rows its parts hold."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import distributions
from pathlib import Path

from rankwise._record import require_part
from rankwise.data import DataError
from rankwise.errors import foreign_errors
from rankwise.files import read_json, read_npz, sha256_of
from rankwise.report.comparison.run_files import read_object
from rankwise.tasks.compare.problem import Problem, Rows
from rankwise.training import RunFolder, command_of, is_empty, require_unchanged

CONFIG, PARTS_FILE = "config.json", "parts.npz"
PARTS = ("test", "validation", "train")

_PACKAGES = [
    "rankwise",
    "torch",
    "numpy",
    "scikit-learn",
    "lightgbm",
    "xgboost-cpu",
    "optuna",
    "polars",
]
# More time may be asked for, the file be moved, or another threshold be chosen.
_MAY_CHANGE = ("data", "budget", "trials", "threshold", "rows_per_day")


@contextmanager
def open_run(out: Path, problem: Problem, *, resume: bool) -> Iterator[RunFolder]:
    """Lock the folder of a run for this process, and write or check its ``config.json``.

    A folder with other files is refused, and so is a run with other settings.
    """
    known = any((out / name).exists() for name in (CONFIG, "run.json"))
    if not known and out.exists() and (not out.is_dir() or not is_empty(out)):
        raise DataError(f"{out} exists and holds no run; pass another --out")
    with RunFolder(out, "compare").opened(resume=resume) as folder:
        table, asked = problem.table, problem.settings.plain()
        digest = sha256_of(problem.settings.data)
        if (out / CONFIG).exists():
            if not resume:
                raise DataError(
                    f"{out} already holds a run; pass --resume to resume it, or another --out"
                )
            require_part(out, CONFIG)
            _require_same(out / CONFIG, asked, digest)
        # In an order of their own: that of the folder changes when anything is installed.
        there = {each.name: each.version for each in distributions()}
        versions = {name: there[name] for name in _PACKAGES if name in there}
        config = {
            "command": "rankwise compare",
            **asked,
            "sha256": digest,
            "rows": len(table),
            "features": dict(zip(table.names, table.kinds, strict=True)),
            "left_out_columns": list(table.left_out),
            "positive_value": table.positive,
            "splits": problem.plan.as_json(),
            "versions": {"python": platform.python_version(), **versions},
        }
        text = json.dumps(config, indent=2, ensure_ascii=False, allow_nan=False)
        folder.write(CONFIG, f"{text}\n".encode())
        yield folder


def _require_same(config: Path, asked: dict[str, object], digest: str) -> None:
    try:
        before = read_json(config)
        earlier = before["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        raise DataError(f"{config}: was not written by rankwise compare") from None
    if earlier != digest:
        raise DataError(f"{config.parent}: the run cannot be resumed with other data")
    changed = [n for n in asked if n not in _MAY_CHANGE and asked[n] != before.get(n)]
    if changed:
        words = ", ".join(f"{n} was {before.get(n)!r} and is {asked[n]!r}" for n in changed)
        raise DataError(f"{config.parent}: the run cannot be resumed with other settings: {words}")


def rows_of_part(run: Path, part: str) -> Rows:
    """Return the row numbers of a part, from 0, in the order of the file."""
    if part not in PARTS:
        raise DataError(f"--part must be one of {', '.join(PARTS)}, got {part!r}")
    require_run(run)
    if not (run / PARTS_FILE).exists():
        raise DataError(
            f"{run}: has no {PARTS_FILE}, which an earlier rankwise did not write; "
            "repeat its `rankwise compare` with --resume, which trains nothing again"
        )
    with foreign_errors(f"{run / PARTS_FILE}: holds no rows of a run", DataError, ours_too=True):
        found = read_npz(run / PARTS_FILE)[part]
        if found.ndim != 1 or found.dtype.kind not in "iu":
            raise ValueError(f"{part} holds {found.dtype} of shape {found.shape}")
    if not len(found):
        raise DataError(
            f"{run}: has no {part} part: it was tested by --repeats, and its model has learned "
            f"from all rows; pass --part train, or `rankwise evaluate {run}`"
        )
    return found


def data_of_run(run: Path, moved: Path | None = None) -> Path:
    """Return the file that a run read, or its new path; a changed file is refused.

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
    found = sha256_of(path)
    if found != known:
        raise DataError(
            f"{path}: is not the file that the run in {run} read: its SHA-256 begins with "
            f"{found[:8]}, that of the run's data with {str(known)[:8]}; pass the unchanged file: "
            f"rankwise predict {run} DATA --part …"
        )
    return path


def require_run(folder: Path) -> None:
    """Raise where a folder holds no finished run of ``rankwise compare``."""
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "there is no such folder"
        raise DataError(f"{folder}: {what}; pass the folder of a run of `rankwise compare`")
    held = command_of(folder)
    if held != "compare":
        what = "no run" if held is None else f"a run of `rankwise {held}`"
        raise DataError(f"{folder}: holds {what}; pass the folder of a run of `rankwise compare`")
    if not (folder / "results.json").exists():
        raise DataError(
            f"{folder}: the run is not finished; repeat its `rankwise compare` with --resume"
        )
    require_unchanged(folder, CONFIG, PARTS_FILE, "results.json", "predictions.npz")
