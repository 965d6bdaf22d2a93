"""A copy of a run folder at any place that fsspec knows, such as ``s3://bucket/run``."""

from __future__ import annotations

import shutil
from pathlib import Path

from rankwise._record import RUN
from rankwise.extras import require

_PART = ".part"  # ends the name of a file until it is there whole


class Storage:
    """Copy of a run folder.

    Files are copied in the order in which they are written, each under a temporary name first: what
    a process leaves that is killed at any time can be resumed, as the folder itself.

    Args:
        url: Where the copy is, as fsspec writes it: a path, ``s3://…``, ``gs://…``, ``memory://…``.
        folder: The run folder.
    """

    def __init__(self, url: str, folder: Path) -> None:
        require("rankwise.training", "fsspec")
        from fsspec.core import url_to_fs  # noqa: PLC0415  (an extra)

        self.files, self.root = url_to_fs(url)
        self.folder = folder.absolute()
        self._copied: set[str] = set()

    @property
    def holds_run(self) -> bool:
        """Whether there is a copy of a run."""
        found: bool = self.files.exists(f"{self.root}/{RUN}")
        return found

    def copy(self, path: Path) -> None:
        """Copy a file of the folder, whole or not at all; others are left alone."""
        path = path.absolute()
        if not path.is_relative_to(self.folder):
            return
        name = path.relative_to(self.folder).as_posix()
        place = f"{self.root}/{name}"
        self.files.makedirs(place.rpartition("/")[0], exist_ok=True)
        self.files.put_file(str(path), place + _PART)
        self.files.mv(place + _PART, place)
        self._copied.add(name)

    def fetch(self) -> None:
        """Replace the folder by the copy."""
        if (self.folder / RUN).exists():
            shutil.rmtree(self.folder)
        for place in self.files.find(self.root):
            name = place.removeprefix(self.root).lstrip("/")
            if not name.endswith(_PART):
                path = self.folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                self.files.get_file(place, str(path))

    def finish(self) -> None:
        """Copy what was written in other ways, and remove what the folder no longer has."""
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and path.relative_to(self.folder).as_posix() not in self._copied:
                self.copy(path)
        for place in self.files.find(self.root):
            name = place.removeprefix(self.root).lstrip("/")
            if not (self.folder / name).exists():
                self.files.rm_file(place)
