"""The lock of a run folder: one process at a time may write into it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rankwise.errors import UsageError

LOCK = ".lock"
_locks: set[int] = set()  # handles of this process


def _leave_locks() -> None:
    """Close inherited locks: a process that loads data may outlive the run that started it."""
    for handle in _locks:
        os.close(handle)
    _locks.clear()


os.register_at_fork(after_in_child=_leave_locks)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; one left by a process that has died is taken over."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / LOCK
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(handle, 20).decode(errors="replace").strip()
            os.close(handle)
            raise UsageError(
                f"{folder} is in use by another process ({holder or 'starting'}); wait for it, "
                "or pass another folder with --out"
            ) from None
        if path.exists() and os.fstat(handle).st_ino == path.stat().st_ino:
            break
        os.close(handle)  # the process before has just removed it
    os.ftruncate(handle, 0)
    os.write(handle, f"{os.getpid()}\n".encode())
    _locks.add(handle)
    try:
        yield
    finally:
        if handle in _locks:  # not in a forked process, whose folder it is not
            _locks.remove(handle)
            path.unlink(missing_ok=True)
            os.close(handle)
