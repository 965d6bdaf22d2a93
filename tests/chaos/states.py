"""What a killed process leaves: the state of its folder before each of its file operations."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.faults import Faults

from rankwise.files import is_part
from rankwise.training._lock import LOCK

State = dict[str, bytes | None]
"""Bytes of every file of a folder, None for the folders in it."""


def state_of(folder: Path) -> State:
    """Read a folder and all below it."""
    found: State = {}
    for path in sorted(folder.rglob("*")):
        found[path.relative_to(folder).as_posix()] = None if path.is_dir() else path.read_bytes()
    return found


def digest_of(state: State) -> str:
    """Return a hash of a state without what is drawn anew by every process.

    These are the names of files that are being written and the process id in the lock.
    """
    items = []
    for name, held in state.items():
        path = Path(name)
        shown = [".part" if is_part(Path(part)) else part for part in path.parts]
        content = b"" if held is None or path.name == LOCK else held
        items.append(("/".join(shown), held is None, hashlib.sha256(content).hexdigest()))
    return hashlib.sha256(json.dumps(sorted(items)).encode()).hexdigest()


def restore(state: State, folder: Path) -> None:
    """Write a state into a folder that is not there."""
    folder.mkdir(parents=True)
    for name, held in state.items():
        path = folder / name
        if held is None:
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(held)


@dataclass(frozen=True)
class Left:
    """A state that a kill at an operation leaves: before it, or with half of a flushed file."""

    at: int
    what: str
    digest: str
    place: Path

    def __str__(self) -> str:
        return f"operation {self.at} ({self.what})"

    @property
    def state(self) -> State:
        return state_of(self.place)


class Watch(Faults):
    """Keeps the state of a folder before each operation: what SIGKILL would leave there.

    A killed process loses its memory and nothing that it has written, so that the folder as the
    system has it at this moment is what the next process finds. Buffers of the process are lost in
    both. A file that is about to be flushed is kept by half as well.
    """

    def __init__(self, folder: Path, place: Path) -> None:
        super().__init__(folder)
        self.place = place
        self._kept: list[tuple[int, str, str]] = []
        place.mkdir(parents=True)

    def _happened(self, what: str, path: object) -> None:
        before = len(self.trace)
        super()._happened(what, path)
        if len(self.trace) == before:
            return
        state = state_of(Path(self.folder)) if os.path.isdir(self.folder) else {}
        self._keep(what, state)
        name = os.path.relpath(self.trace[-1][1], self.folder)
        if what == "fsync" and (held := state.get(name)):
            self._keep("half", {**state, name: held[: len(held) // 2]})

    def _keep(self, what: str, state: State) -> None:
        digest = digest_of(state)
        if not (self.place / digest).exists():
            restore(state, self.place / digest)
        self._kept.append((len(self.trace), what, digest))

    def write(self) -> None:
        """Write what was kept next to the states, for :func:`left_in`."""
        (self.place / "kept.json").write_text(json.dumps(self._kept))


def left_in(place: Path) -> Iterator[Left]:
    """Yield what a process with a :class:`Watch` would have left, in the order of its operations.

    Operations that change nothing leave the same state, which is yielded for each of them.
    """
    for at, what, digest in json.loads((place / "kept.json").read_text()):
        yield Left(at, what, digest, place / digest)
