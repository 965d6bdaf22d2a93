"""The folder of a run: what may be written into it, and by which command."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import torch

import rankwise
from rankwise._record import FORMAT, RUN, RunRecord, command_of, read_part, read_record
from rankwise.errors import UsageError
from rankwise.files import is_part, remove_parts, sha256_of
from rankwise.report import write_whole
from rankwise.seals import sealed_json
from rankwise.training._lock import LOCK, locked

if TYPE_CHECKING:
    from rankwise.training.devices import Devices

_MADE = ("checkpoint.pt", "results.json", "study.db", "model.ranker")  # that would be lost
_CONFIGS = ("config.json", "config.yaml")


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
        self._about = RunRecord(
            format=FORMAT,
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
            with locked(self.path):
                require_free(self.path, self.command, resume=resume)  # nobody else changes it now
                remove_parts(self.path)
                ended = self._record_if_finished()
                self._about = self._known_or_new()
                self._about.finished = False
                self._forget_others()
                self._write_about()
                try:
                    yield self
                except BaseException:
                    if ended is not None and self._has_all_files_of(ended):
                        write_whole(self.path / RUN, ended)  # refused before anything was changed
                    raise
        finally:
            there = self.path.is_dir()
            if made and there and {path.name for path in self.path.iterdir()} <= {RUN}:
                (self.path / RUN).unlink(missing_ok=True)  # refused before anything was made
                self.path.rmdir()

    def write(self, name: str, content: bytes) -> Path:
        """Write a part, whole or not at all.

        Its SHA-256 is in ``run.json`` before it, next to that of the part it replaces: a process
        that is killed between the two leaves a folder that can be read.
        """
        self.require_there()
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
        self.require_there()
        files = sorted(path for path in self.path.rglob("*") if path.is_file())
        self._about.parts = {
            str(path.relative_to(self.path)): [sha256_of(path)]
            for path in files
            if path.name not in (RUN, LOCK)
        }
        self._about.finished = True
        self._write_about()

    def _record_if_finished(self) -> bytes | None:
        """Return the content of ``run.json`` of a finished run, None for any other folder."""
        known = read_record(self.path)
        return (self.path / RUN).read_bytes() if known is not None and known.finished else None

    def _has_all_files_of(self, record: bytes) -> bool:
        """Return whether all files of a finished run are there and unchanged."""
        return all(
            (path := self.path / name).is_file() and sha256_of(path) in known
            for name, known in RunRecord.model_validate_json(record).parts.items()
        )

    def _known_or_new(self) -> RunRecord:
        """Return what is known of the run; one that has no part yet counts as new."""
        known, new = read_record(self.path), self._about
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

    def require_there(self) -> None:
        """Raise where the folder was removed since it was opened.

        Raises:
            UsageError: If its ``run.json`` is gone.
        """
        if not (self.path / RUN).exists():
            raise UsageError(
                f"{self.path} was removed or emptied while the run was writing into it; start the "
                "run again"
            )

    def _write_about(self) -> None:
        write_whole(self.path / RUN, sealed_json(self._about.model_dump()))


def record_again(folder: Path, name: str) -> None:
    """Note the SHA-256 of a file of a finished run that was written again."""
    about = read_record(folder)
    if about is not None and name in about.parts:
        about.parts[name] = [sha256_of(folder / name)]
        write_whole(folder / RUN, sealed_json(about.model_dump()))


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

    A run that has nothing but its settings counts as new.

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
    about = read_record(path)
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
    return all(path.name == LOCK or is_part(path) for path in folder.iterdir())
