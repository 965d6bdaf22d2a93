"""Where a command may write: said in one line before any work is done."""

from __future__ import annotations

import tempfile
from pathlib import Path

from rankwise.commands.console import refuse


def require_folder(out: Path, option: str = "--out") -> None:
    """Refuse what cannot become a folder with files in it; nothing is left behind."""
    try:
        above = (out, *out.absolute().parents)
        there = next(path for path in above if path.exists() or path.is_symlink())
        if not there.is_dir():
            refuse(f"{option} must be a folder, got {out}: {there} is none")
        # What the permissions say is not all: a file system may be read-only, or not of files.
        with tempfile.TemporaryDirectory(dir=there, prefix=".rankwise."):
            pass
    except OSError as error:
        refuse(f"{option} must be a folder that can be written into, got {out}: {error.strerror}")


def require_other(option: str, out: Path | None, *inputs: Path | None) -> None:
    """Refuse a file to write that is, by whatever name, one that is read."""
    for path in inputs:
        if out is not None and path is not None and _same(out, path):
            refuse(f"{option} must be another file than {path}, which is read, got {out}")


def _same(first: Path, second: Path) -> bool:
    try:
        return first.samefile(second)
    except OSError:  # one is not there
        return False
