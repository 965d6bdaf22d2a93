"""What a run was asked to do, kept beside its results so that it can be gone on with."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rankwise.data import DataError
from rankwise.errors import UsageError
from rankwise.report import write_json
from rankwise.tasks.compare.problem import Problem
from rankwise.training import RunFolder

CONFIG = "config.json"

_PACKAGES = (
    "rankwise",
    "torch",
    "numpy",
    "scikit-learn",
    "lightgbm",
    "xgboost-cpu",
    "optuna",
    "polars",
)
_MAY_CHANGE = ("data", "budget", "trials")  # more time may be asked for, or the file be moved


@contextmanager
def open_run(out: Path, *, resume: bool) -> Iterator[RunFolder]:
    """Lock the folder of a run for this process; what is in it by others is refused."""
    _require_own(out)
    try:
        with RunFolder(out, "compare").opened(resume=resume) as folder:
            yield folder
    except UsageError as error:
        raise DataError(str(error)) from None


def _require_own(out: Path) -> None:
    known = any((out / name).exists() for name in (CONFIG, "run.json"))
    if not known and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise DataError(f"{out} is there and holds no run; pass another --out")


def start_run(out: Path, problem: Problem, *, resume: bool) -> None:
    """Write ``config.json``, or see that the run which is there was asked the same."""
    settings, table = problem.settings, problem.table
    config = out / CONFIG
    asked = settings.plain()
    digest = digest_of(settings.data)
    if config.exists():
        if not resume:
            raise DataError(
                f"{out} already holds a run; pass --resume to go on with it, or another --out"
            )
        _require_same(config, asked, digest)
    _require_own(out)
    known = {
        "command": "rankwise compare",
        **asked,
        "sha256": digest,
        "rows": len(table),
        "features": dict(zip(table.names, table.kinds, strict=True)),
        "left_out_columns": list(table.left_out),
        "positive_value": table.positive,
        "splits": problem.plan.as_json(),
        "versions": {"python": platform.python_version(), **_versions()},
    }
    write_json(config, known)


def _require_same(config: Path, asked: dict[str, object], digest: str) -> None:
    try:
        before = json.loads(config.read_text())
        earlier = before["sha256"]
    except (ValueError, KeyError, TypeError):
        raise DataError(f"{config}: was not written by rankwise compare") from None
    if earlier != digest:
        raise DataError(f"{config.parent}: the run cannot be resumed with other data")
    changed = [n for n in asked if n not in _MAY_CHANGE and asked[n] != before.get(n)]
    if changed:
        words = ", ".join(f"{n} was {before.get(n)!r} and is {asked[n]!r}" for n in changed)
        raise DataError(f"{config.parent}: the run cannot be resumed with other settings: {words}")


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
