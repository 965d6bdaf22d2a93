"""A small disk in memory that can be filled and made read-only, seen by this process alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PAGE = 4096  # bytes by which a tmpfs grows
_INSIDE = "RANKWISE_CHAOS_MOUNTS"
_ALONE = ["unshare", "--mount", "--map-root-user"]


def start_with_own_mounts() -> None:
    """Start this program again where it may mount disks that nobody else sees.

    They are gone when it ends, however it ends. Where the system does not permit it, nothing
    happens, and :func:`can_mount` is false.
    """
    if _INSIDE in os.environ or shutil.which("unshare") is None:
        return
    with_mount = [*_ALONE, "mount", "-t", "tmpfs", "tmpfs", tempfile.gettempdir()]
    if subprocess.run(with_mount, capture_output=True, check=False).returncode == 0:
        os.environ[_INSIDE] = "1"
        os.execvp(_ALONE[0], [*_ALONE, sys.executable, *sys.orig_argv[1:]])


def can_mount() -> bool:
    """Whether :func:`start_with_own_mounts` was permitted."""
    return _INSIDE in os.environ


@contextmanager
def small_disk(folder: Path, pages: int) -> Iterator[None]:
    """Mount a tmpfs of some pages at a folder, and unmount it at the end."""
    folder.mkdir(exist_ok=True)
    _run("mount", "-t", "tmpfs", "-o", f"size={pages * PAGE}", "tmpfs", str(folder))
    try:
        yield
    finally:
        _run("umount", "--lazy", str(folder))  # a process that is just ending may be in it


def change(folder: Path, options: str) -> None:
    """Change the options of a mounted disk: ``size=1m``, ``ro`` or ``rw``."""
    _run("mount", "-o", f"remount,{options}", str(folder))


def _run(*command: str) -> None:
    subprocess.run(command, check=True)
