"""The text files of a data set, line by line, with the file and line of what is wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from rankwise.data.errors import DataError

_WIDE = 80  # characters of a line that a message shows


def located(root: Path, usual: str, *markers: str) -> Path:
    """The folder that holds one of ``markers``: ``root``, or the folder ``usual`` in it."""
    if not root.exists():
        raise DataError(f"{root}: there is no such folder")
    for folder in (root, root / usual):
        if any((folder / marker).exists() for marker in markers):
            return folder
    raise DataError(
        f"{root}: there is no {' or '.join(markers)} here nor in {usual}; "
        f"give the folder that the archive of the data set was unpacked to"
    )


def read_fields(
    path: Path, fields: int, layout: str, *, header: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and the fields of every line; empty lines are passed over.

    ``layout`` is how a line should look, for the message. The last field may have blanks in it.
    With ``header`` the first line must be ``layout`` itself.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read as text: {error}") from error
    if header and (not lines or lines[0].split() != layout.split()):
        first = lines[0].strip()[:_WIDE] if lines else ""
        raise DataError(f"{path}: line 1: the header must be {layout!r}, got {first!r}")
    some = False
    for number, line in enumerate(lines[header:], start=1 + header):
        if not line.strip():
            continue
        found = line.split(maxsplit=fields - 1)
        if len(found) != fields:
            raise DataError(
                f"{path}: line {number}: {len(found)} fields where {fields} belong: "
                f"{line.strip()[:_WIDE]!r}; a line is {layout!r}"
            )
        some = True
        yield number, [text.strip() for text in found]
    if not some:
        raise DataError(f"{path}: is empty; a line is {layout!r}")


def require_unseen(train: Collection[str], test: Collection[str], where: str) -> None:
    """Raise where classes to test on are trained on: the published splits have none."""
    seen = sorted(set(train) & set(test))
    if seen:
        raise DataError(
            f"{where}: {len(seen)} classes are both to train on and to test on, the first is "
            f"{seen[0]!r}; the published files have no such class"
        )


class Once:
    """Sees to it that nothing is listed twice, in one file or in two."""

    def __init__(self) -> None:
        self._place: dict[str, str] = {}

    def __call__(self, name: str, file: Path, line: int) -> None:
        place = f"{file}: line {line}"
        before = self._place.setdefault(name, place)
        if before != place:
            raise DataError(f"{place}: {name!r} is listed already, in {before}")
