"""Files that a list of images names: inside of the folder of the data, unless that is allowed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from rankwise.data.errors import DataError
from rankwise.errors import short_repr


def require_inside(root: Path, paths: Iterable[Path]) -> None:
    """Raise where a file is outside of a folder: by an absolute path, by ``..`` or by a link.

    A data set from anyone could name any file of the machine, and a report would show it.
    """
    base = os.path.realpath(root if root.is_dir() else root.parent)
    folders: dict[str, str] = {}  # images share their folders, which are looked up once
    for path in paths:
        folder = os.path.dirname(path)
        if folder not in folders:
            folders[folder] = os.path.realpath(folder)
        real = os.path.join(folders[folder], path.name)
        if os.path.islink(real) or path.name == "..":
            real = os.path.realpath(real)
        if not real.startswith(os.path.join(base, "")):
            raise DataError(
                f"{root}: names the file {short_repr(str(path), 200)}, which is outside of the "
                "folder of the data; copy it there, or set data.allow_outside (allow_outside=True)"
            )
