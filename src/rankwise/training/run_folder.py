"""The folder of a run: the command that made it, its parts, and a lock for the writer."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from pydantic import BaseModel

import rankwise
from rankwise.errors import UsageError
from rankwise.files import is_part, remove_parts, sha256_of
from rankwise.report import write_whole
from rankwise.seals import SealError, require_seal, sealed_json

if TYPE_CHECKING:
    from rankwise.training.devices import Devices

RUN = "run.json"
_LOCK = ".lock"
_FORMAT = 1
_MADE = ("checkpoint.pt", "results.json", "study.db", "model.ranker")  # that would be lost
_CONFIGS = ("config.json", "config.yaml")
_locks: set[int] = set()  # handles of this process


def _leave_locks() -> None:
    """Close inherited locks: a process that loads data may outlive the run that started it."""
    for handle in _locks:
        os.close(handle)
    _locks.clear()


os.register_at_fork(after_in_child=_leave_locks)


class _Run(BaseModel):
    """``run.json``."""

    format: int
    command: str
    version: str
    finished: bool
    parts: dict[str, list[str]]  # SHA-256 of a part, and of the one that it replaces
    written: list[str] = []  # parts that a run writes and reads before its end
    threads: int | None = None  # of torch, when the run was started
    deterministic: bool = False  # whether only deterministic algorithms were allowed


class ThreadsWarning(UserWarning):
    """A run is resumed with another number of threads: its last bits may differ."""


class RunFolder:
    """Files of one run, with ``run.json`` over them.

    ``run.json`` has the format version, the command and the version of rankwise that made the run,
    whether it is finished, and the SHA-256 of every part and of ``run.json`` itself. Open it with
    :meth:`opened`: one process at a time may.

    Args:
        path: The folder.
        command: Command of ``rankwise`` whose run it holds.

    Example:
        >>> from pathlib import Path
        >>> from rankwise.training import RunFolder, command_of
        >>> import tempfile
        >>> out = Path(tempfile.mkdtemp()) / "run"
        >>> with RunFolder(out, "classify").opened() as folder:
        ...     path = folder.write("notes.txt", b"lr 0.1")
        ...     folder.finish()
        >>> command_of(out), (out / "notes.txt").read_bytes()
        ('classify', b'lr 0.1')
    """

    def __init__(self, path: Path, command: str) -> None:
        self.path, self.command = path, command
        self._about = _Run(
            format=_FORMAT,
            command=f"rankwise {command}",
            version=rankwise.__version__,
            finished=False,
            parts={},
            threads=torch.get_num_threads(),
            deterministic=torch.are_deterministic_algorithms_enabled(),
        )

    @contextmanager
    def opened(self, *, resume: bool = False) -> Iterator[RunFolder]:
        """Lock the folder for this process, and start the run or resume it.

        Raises:
            UsageError: Where the folder holds something else, where it holds a run and ``resume``
                is False, or where another process has it open.
        """
        require_free(self.path, self.command, resume=resume)
        made = not self.path.exists()
        try:
            with _locked(self.path):
                require_free(self.path, self.command, resume=resume)  # nobody else changes it now
                remove_parts(self.path)
                self._about = self._known_or_new()
                self._about.finished = False
                self._forget_others()
                self._write_about()
                yield self
        finally:
            there = self.path.is_dir()
            if made and there and {path.name for path in self.path.iterdir()} <= {RUN}:
                (self.path / RUN).unlink(missing_ok=True)  # refused before anything was made
                self.path.rmdir()

    def write(self, name: str, content: bytes) -> Path:
        """Write a part, whole or not at all.

        Its SHA-256 is in ``run.json`` before it, beside that of the part it replaces: a process
        that is killed between the two leaves a folder that can be read.
        """
        self._require_there()
        parts = self._about.parts
        parts[name] = [hashlib.sha256(content).hexdigest(), *parts.get(name, [])[:1]]
        self._about.written = sorted({*self._about.written, name})
        self._write_about()
        return write_whole(self.path / name, content)

    def read(self, name: str) -> bytes | None:
        """Return a part whose SHA-256 is right; None where it was never written."""
        return read_part(self.path, name)

    def finish(self) -> None:
        """Note that the run has ended, and the SHA-256 of all files in the folder."""
        self._require_there()
        files = sorted(path for path in self.path.rglob("*") if path.is_file())
        self._about.parts = {
            str(path.relative_to(self.path)): [sha256_of(path)]
            for path in files
            if path.name not in (RUN, _LOCK)
        }
        self._about.finished = True
        self._write_about()

    def _known_or_new(self) -> _Run:
        """Return what is known of the run; one that has no part yet is as good as a new one."""
        known, new = _read(self.path), self._about
        begun = [name for name in _MADE if (self.path / name).exists()]
        if known is None or not (known.written or begun):
            return (
                new
                if known is None
                else known.model_copy(
                    update={"threads": new.threads, "deterministic": new.deterministic}
                )
            )
        if known.threads not in (None, new.threads):
            warnings.warn(
                f"{self.path} was started with {known.threads} threads and is resumed with "
                f"{new.threads}: its result may differ in the last bits",
                ThreadsWarning,
                stacklevel=5,
            )
        return known

    def _forget_others(self) -> None:
        """Keep the SHA-256 of each part as it is now, and none of what the run will write again.

        A process that was killed before it replaced a part has left the one before: it is this
        part whose SHA-256 must stay when the next process is killed in the same place.
        """
        about = self._about
        about.parts = {name: known for name, known in about.parts.items() if name in about.written}
        for name, known in about.parts.items():
            path = self.path / name
            if len(known) > 1 and path.is_file() and (found := sha256_of(path)) in known:
                about.parts[name] = [found]

    def _require_there(self) -> None:
        if not (self.path / RUN).exists():
            raise UsageError(
                f"{self.path} was removed or emptied while the run was writing into it; start the "
                "run again"
            )

    def _write_about(self) -> None:
        write_whole(self.path / RUN, sealed_json(self._about.model_dump()))


@contextmanager
def open_folder(
    out: Path | RunFolder | None,
    command: str,
    *,
    resume: bool = False,
    devices: Devices | None = None,
) -> Iterator[RunFolder | None]:
    """Open the folder of a run; None stays None, and one that is open already stays open.

    Args:
        out: Path of the folder, the open folder, or None for a run without one.
        command: Command whose run the folder holds.
        resume: Whether a run in the folder may be continued.
        devices: Processes of the run: the first one opens the folder, the others get None. Where
            the folder is refused, all of them raise.

    Yields:
        The open folder.

    Example:
        >>> from rankwise.training import open_folder
        >>> with open_folder(None, "classify") as folder:
        ...     print(folder)
        None
    """
    if not isinstance(out, Path):
        yield out
        return
    opened: list[RunFolder] = []
    with ExitStack() as stack:

        def enter() -> None:
            opened.append(stack.enter_context(RunFolder(out, command).opened(resume=resume)))

        if devices is None:
            enter()
        else:
            devices.on_first(enter)
        yield opened[0] if opened else None


def require_free(path: Path, command: str, *, resume: bool) -> None:
    """Raise unless ``rankwise command`` may write into a folder: a new run, or its own resumed.

    A run that has not got further than its settings is as good as a new one.

    Args:
        path: The folder.
        command: The command that wants to write.
        resume: Whether it continues a run.

    Raises:
        UsageError: Where the folder holds something else, or a run and ``resume`` is False.

    Example:
        >>> from pathlib import Path
        >>> from rankwise.training import require_free
        >>> require_free(Path("no-such-folder"), "classify", resume=False)
    """
    about = _read(path)
    made = [name for name in _MADE if (path / name).exists()]
    if about is None:
        found = [name for name in _CONFIGS if (path / name).exists()] + made
        if found:
            raise UsageError(
                f"{path} holds {', '.join(found)} without {RUN}, which every run has; "
                "pass another folder with --out"
            )
        return
    if command_of(path) != command:
        raise UsageError(
            f"{path} holds a run of {about.command}, not of rankwise {command}; "
            "pass another folder with --out"
        )
    if not resume and (about.finished or made):
        raise UsageError(
            f"{path} already holds a run; pass --resume to continue it, or another folder with "
            "--out"
        )


def is_empty(folder: Path) -> bool:
    """Whether a folder holds nothing but what a killed process left: a lock, a file half written.

    Args:
        folder: Path of a folder that exists.

    Returns:
        True where a new run may use it.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from rankwise.training import is_empty
        >>> is_empty(Path(tempfile.mkdtemp()))
        True
    """
    return all(path.name == _LOCK or is_part(path) for path in folder.iterdir())


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
    about = _read(folder)
    return None if about is None else about.command.removeprefix("rankwise ")


def threads_of(folder: Path) -> int | None:
    """Return the number of threads that the run in a folder was started with, if it is known."""
    about = _read(folder)
    return None if about is None else about.threads


def read_part(folder: Path, name: str) -> bytes | None:
    """Return a file of a run, None where there is none.

    Raises:
        UsageError: Where its SHA-256 is not that of ``run.json``.
    """
    path, about = folder / name, _read(folder)
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
    about = _read(folder)
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


def require_part(folder: Path, name: str) -> None:
    """Raise where a file is not the one of ``run.json``; one that is not in it is not checked."""
    about = _read(folder)
    if about is not None and name in about.parts:
        read_part(folder, name)


def _read(folder: Path) -> _Run | None:
    path = folder / RUN
    if not path.exists():
        return None
    wrong = f"{path}: cannot be read as the record of a run"
    try:
        content = path.read_bytes()
        about = _Run.model_validate(json.loads(content))
        if about.format <= _FORMAT:  # a newer one may be sealed in another way
            require_seal(content)
    except SealError as error:
        raise UsageError(
            f"{wrong}: {error}; restore it, or pass another folder with --out"
        ) from None
    except Exception:
        raise UsageError(f"{wrong}; pass another folder with --out") from None
    if about.format > _FORMAT:
        raise UsageError(
            f"{path}: has format {about.format}, made by rankwise {about.version}; this version "
            f"reads up to {_FORMAT}: install a newer rankwise"
        )
    return about


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; one left by a process that has died is taken over."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / _LOCK
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
