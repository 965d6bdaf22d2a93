"""The record of a run, ``run.json``: its command, its state, and the SHA-256 of its parts."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from pydantic import BaseModel

from rankwise.errors import UsageError
from rankwise.seals import SealError, require_seal

RUN = "run.json"
FORMAT = 1


class RunRecord(BaseModel):
    """``run.json``."""

    format: int
    command: str
    version: str
    finished: bool
    parts: dict[str, list[str]]  # SHA-256 of a part, and of the one that it replaces
    written: list[str] = []  # parts that a run writes and reads before its end
    threads: int | None = None  # of torch, when the run was started
    deterministic: bool = False  # whether only deterministic algorithms were allowed


def read_record(folder: Path) -> RunRecord | None:
    path = folder / RUN
    if not path.exists():
        return None
    wrong = f"{path}: cannot be read as the record of a run"
    try:
        content = path.read_bytes()
        about = RunRecord.model_validate(json.loads(content))
        if about.format <= FORMAT:  # a newer one may be sealed in another way
            require_seal(content)
    except SealError as error:
        raise UsageError(
            f"{wrong}: {error}; restore it, or pass another folder with --out"
        ) from None
    except Exception:
        raise UsageError(f"{wrong}; pass another folder with --out") from None
    if about.format > FORMAT:
        raise UsageError(
            f"{path}: has format {about.format}, made by rankwise {about.version}; this version "
            f"reads up to {FORMAT}: install a newer rankwise"
        )
    return about


def command_of(folder: Path) -> str | None:
    """Return the command whose run a folder holds, finished or not; None where there is none.

    Args:
        folder: The folder.

    Returns:
        The command without ``rankwise``, such as ``"classify"``.

    Example:
        >>> from pathlib import Path
        >>> from rankwise.training import command_of
        >>> print(command_of(Path("no-such-folder")))
        None
    """
    about = read_record(folder)
    return None if about is None else about.command.removeprefix("rankwise ")


def threads_of(folder: Path) -> int | None:
    """Return the number of threads that the run in a folder was started with, if it is known."""
    about = read_record(folder)
    return None if about is None else about.threads


def read_part(folder: Path, name: str) -> bytes | None:
    """Return a file of a run, None where there is none.

    Raises:
        UsageError: Where its SHA-256 is not that of ``run.json``.
    """
    path, about = folder / name, read_record(folder)
    if not path.is_file():
        return None
    known = [] if about is None else about.parts.get(name, [])
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() not in known:
        raise UsageError(
            f"{path}: was changed or damaged, its SHA-256 is not that of {RUN}; restore the file, "
            "or start the run in another folder"
        )
    return content


def require_part(folder: Path, name: str) -> None:
    """Raise where a file is not the one of ``run.json``; one that is not in it is not checked."""
    about = read_record(folder)
    if about is not None and name in about.parts:
        read_part(folder, name)


def require_unchanged(folder: Path, *names: str) -> None:
    """Raise where a file of a finished run is not the one that ``run.json`` has the SHA-256 of.

    Args:
        folder: Folder of the run; a copy of its files without ``run.json`` is not checked.
        names: Names of its files to check; those that it does not have are left out.

    Raises:
        UsageError: Where a file was changed or damaged, and where the run was stopped while it was
            being continued.

    Example:
        >>> from pathlib import Path
        >>> from rankwise.training import require_unchanged
        >>> require_unchanged(Path("no-such-folder"), "model.ranker")
    """
    about = read_record(folder)
    if about is None:
        return
    if not about.finished:
        raise UsageError(
            f"{folder}: the run is not finished, it was stopped while it was written; repeat its "
            f"`{about.command}` with --resume"
        )
    for name in names:
        if name in about.parts:
            read_part(folder, name)
