"""The SHA-256 of a file inside the file, so that a copy of it is verified wherever it is.

A sealed file holds ``rankwise-sha256:`` and 64 hexadecimal digits: the SHA-256 of all its bytes
with zeros in place of the digits. Other programs read the file as before. The seal is the comment
of a zip (npz, checkpoints, estimators), metadata of safetensors and parquet, or the first key of
JSON.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

_MARK, _ZEROS = b"rankwise-sha256:", b"0" * 64
_WORDS = (_MARK + _ZEROS).decode()
_KEY = "seal"
_AT_END = (b"PK\x03\x04", b"PAR1")  # formats with their directory at the end, and the seal with it
_END_OF_ZIP, _SIZE_OF_END = b"PK\x05\x06", 22
# A second trace of a seal, where files without one are read, too: one damage hits one of the two.
_TRACE = "rankwise-sealed"

METADATA = {_KEY: _WORDS}
"""Metadata of safetensors with room for the seal, which :func:`sealed` then fills."""
TABLE_METADATA = {"program": _TRACE, _KEY: _WORDS}
"""Metadata of parquet with room for the seal."""


class SealError(ValueError):
    """A file whose content is not what was written."""


def sealed(content: bytes) -> bytes:
    """Return a file with its SHA-256 in the place that was left for it.

    Args:
        content: Whole file, with :data:`METADATA` in it.

    Returns:
        The same number of bytes.

    Example:
        >>> from rankwise.seals import METADATA, require_seal, sealed
        >>> content = sealed(f'{{"seal": "{METADATA["seal"]}", "x": 1}}'.encode())
        >>> require_seal(content)
        >>> require_seal(content.replace(b"1}", b"2}"))
        Traceback (most recent call last):
            ...
        rankwise.seals.SealError: it was changed or damaged: its SHA-256 is not the one in it
    """
    place = _place(content)
    if place is None or content[place : place + len(_ZEROS)] != _ZEROS:
        raise ValueError("there is no room for a seal")
    return content[:place] + _digest(content, place) + content[place + len(_ZEROS) :]


def sealed_zip(content: bytes) -> bytes:
    """Return a zip without a comment as one whose comment is its seal."""
    if content[-_SIZE_OF_END:][:4] != _END_OF_ZIP:
        raise ValueError("must be a zip without a comment")
    return sealed(content[:-2] + struct.pack("<H", len(_WORDS)) + _WORDS.encode())


def sealed_json(value: Mapping[str, object]) -> bytes:
    """Return a mapping as indented JSON whose first key is its seal."""
    text = json.dumps(METADATA | dict(value), indent=2, ensure_ascii=False, allow_nan=False)
    return sealed(f"{text}\n".encode())


def read_sealed_json(content: bytes) -> Any:
    """Return the mapping of :func:`sealed_json`, without its seal."""
    require_seal(content)
    value = json.loads(content)
    return {name: part for name, part in value.items() if name != _KEY}


def require_seal(content: bytes | mmap) -> None:
    """Raise unless a file has its seal, and is what was sealed.

    Args:
        content: Whole file.

    Raises:
        SealError: If a single bit is another one, or if there is no seal.
    """
    place = _place(content)
    if place is None:
        raise SealError(
            "it has no SHA-256 in it: it is damaged, of an older rankwise, or of another program"
        )
    if content[place : place + len(_ZEROS)] != _digest(content, place):
        raise SealError("it was changed or damaged: its SHA-256 is not the one in it")


def require_sealed_file(path: Path) -> None:
    """Verify a file as :func:`require_seal` does, without a copy of it in memory."""
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            raise SealError("it is empty")
        with mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            require_seal(content)


def require_sealed_table(path: Path) -> None:
    """Verify a parquet file that rankwise wrote; one of another program has nothing to verify."""
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            return
        with mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
            if any(content.rfind(x, max(0, footer)) >= 0 for x in (_MARK, _TRACE.encode())):
                require_seal(content)


def _place(content: bytes | mmap) -> int | None:
    """Return where the digits of the seal begin; None where there are none."""
    found = content.rfind(_MARK) if content[:4] in _AT_END else content.find(_MARK)
    return None if found < 0 else found + len(_MARK)


def _digest(content: bytes | mmap, place: int) -> bytes:
    found = hashlib.sha256()
    with memoryview(content) as view, view[:place] as before, view[place + len(_ZEROS) :] as after:
        for part in (before, _ZEROS, after):
            found.update(part)
    return found.hexdigest().encode()
