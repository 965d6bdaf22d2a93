"""Faults of a child process at its n-th file operation: killed, disk full, folder read-only."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

KINDS = ("kill", "half", "full", "read-only")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate")
FREEING = ("remove", "rmdir")  # what a full disk does not stop
# Exit codes of a child: another process has the folder, the disk is full or read-only, a process
# that loads data was killed.
REFUSED, FAILED, LOST_WORKER = 2, 71, 75
_ERRORS = {"full": errno.ENOSPC, "read-only": errno.EROFS}


class Faults:
    """Operations on the files of a folder, counted; a fault happens at number ``at`` (from 1).

    An operation is a file opened to be written, renamed, removed or flushed to the disk, and a
    folder made or removed. ``kill`` ends the process before the operation, as SIGKILL and a loss
    of power do; ``half`` does the same, but leaves half of a file that was to be flushed. With
    ``full`` and ``read-only`` this operation and all later ones that need the disk fail with the
    error of the system. What SQLite does itself is not seen here; random kills reach it.
    """

    def __init__(self, folder: Path, at: int | None = None, kind: str = "kill") -> None:
        self.folder, self.at, self.kind = str(folder), at, kind
        self.trace: list[tuple[str, str]] = []
        self._flush = os.fsync

    def install(self) -> None:
        """Watch this process from now on; there is no way back, as a child needs none."""
        sys.addaudithook(self._audited)
        os.fsync = self._flushed

    def _audited(self, event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            written = isinstance(flags, int) and flags & _WRITES
            if written or (isinstance(mode, str) and set(mode) & set("wax+")):
                self._happened("open", path)
        elif event in _CHANGES:
            self._happened(event.removeprefix("os."), arguments[0])

    def _flushed(self, handle: int) -> None:
        path = os.readlink(f"/proc/self/fd/{handle}")
        self._happened("fsync", path)
        self._flush(handle)

    def _happened(self, what: str, path: object) -> None:
        if not isinstance(path, (str, os.PathLike)):
            return
        name = os.fspath(path)
        if not isinstance(name, str) or not os.path.abspath(name).startswith(self.folder):
            return
        self.trace.append((what, name))
        if self.at is None or len(self.trace) < self.at:
            return
        if self.kind in _ERRORS:
            if what not in FREEING or self.kind == "read-only":
                raise OSError(_ERRORS[self.kind], os.strerror(_ERRORS[self.kind]), name)
            return
        if self.kind == "half" and what == "fsync" and os.path.isfile(name):
            self.at = None  # to truncate is an operation, too, before which this would end
            os.truncate(name, os.path.getsize(name) // 2)
        os.kill(os.getpid(), signal.SIGKILL)


def require_durable(trace: list[tuple[str, str]]) -> None:
    """Raise unless every file was flushed before it was renamed, and its folder afterwards."""
    flushed: set[str] = set()
    for number, (what, path) in enumerate(trace):
        if what == "fsync":
            flushed.add(path)
        elif what == "rename" and path.endswith(".part"):
            is_file = any(done == ("open", path) for done in trace[:number])
            assert path in flushed or not is_file, f"{path} was renamed before it was flushed"
            after = {where for done, where in trace[number:] if done == "fsync"}
            assert str(Path(path).parent) in after, f"the folder of {path} was not flushed"


def in_child(
    work: Callable[[], None], faults: Faults | None = None, log: Path | None = None
) -> int:
    """Start a forked child that does some work, and return its process id.

    What it raises is written to ``log``.
    """
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):
            os.dup2(null, stream)
        gc.freeze()  # else it looks at all that was imported, and copies the memory of it
        if faults is not None:
            faults.install()
        code = _outcome(work, log)
    except BaseException as error:  # raised by a signal while another error was handled
        code = _logged(77, error, log)
    finally:
        os._exit(code)


def _outcome(work: Callable[[], None], log: Path | None) -> int:
    try:
        work()
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        return FAILED if error.errno in _ERRORS.values() else _logged(72, error, log)
    except ValueError as error:  # refused, in one line
        return REFUSED if "in use by another process" in str(error) else _logged(73, error, log)
    except RuntimeError as error:
        return LOST_WORKER if "DataLoader worker" in str(error) else _logged(76, error, log)
    except BaseException as error:
        return _logged(74, error, log)
    return 0


def _logged(code: int, error: BaseException, log: Path | None) -> int:
    if log is not None:
        where = traceback.extract_tb(error.__traceback__)[-1]
        log.write_text(f"{type(error).__name__}: {error} ({where.filename}:{where.lineno})")
    return code


def workers_of(child: int) -> list[int]:
    """Return the processes that a child has started."""
    try:
        return list(map(int, Path(f"/proc/{child}/task/{child}/children").read_text().split()))
    except OSError:  # it has ended
        return []


def has_ended(child: int) -> bool:
    """Whether a child has ended; it can still be waited for."""
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def ended(child: int) -> int:
    """Wait for a child; its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
