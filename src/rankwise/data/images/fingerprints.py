"""Fingerprint of the images of a run, by which a resumed run knows that they are the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from torch import Tensor

_SAMPLE = 256  # images whose content is hashed
_DIGITS = 16


def digest(parts: Iterable[bytes]) -> str:
    """Return the first digits of the SHA-256 of some bytes."""
    seen = hashlib.sha256()
    for part in parts:
        seen.update(part)
    return seen.hexdigest()[:_DIGITS]


def fingerprint_of(
    labels: Iterable[bytes],
    *,
    paths: Sequence[Path] | None = None,
    pixels: Iterable[Tensor] | None = None,
    full: bool = False,
) -> str:
    """Return ``name=digest`` of the labels and names, and of the sizes and contents of the files.

    Names are without their folder, and times of change do not count: a data folder may be moved or
    copied. The content is that of 256 files, evenly spaced, or with ``full`` of all of them. Images
    in memory are hashed whole.
    """
    found = {"labels": digest(labels)}
    if pixels is not None:
        found["contents"] = digest(each.contiguous().numpy().tobytes() for each in pixels)
    if paths:
        found["names"] = digest(f"{path.name}\n".encode() for path in paths)
        found["sizes"] = digest(f"{path.stat().st_size}\n".encode() for path in paths)
        count = len(paths) if full else min(len(paths), _SAMPLE)
        rows = np.linspace(0, len(paths) - 1, count).astype(int).tolist()
        hashes = (hashlib.sha256(paths[row].read_bytes()).digest() for row in rows)
        found["contents"] = digest(hashes)
    return " ".join(f"{name}={value}" for name, value in found.items())
