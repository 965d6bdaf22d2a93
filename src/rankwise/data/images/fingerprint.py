"""A word for the images of a set, which changes when they do."""

from __future__ import annotations

import hashlib

from rankwise.data.images.base import ImageSet

__all__ = ["fingerprint"]


def fingerprint(images: ImageSet) -> str:
    """Return a word that changes when the images of a set do, or their order."""
    seen = hashlib.sha256(images.labels.numpy().tobytes())
    if images.pixels is not None:
        seen.update(images.pixels.contiguous().numpy().tobytes())
    for path in images.paths or ():
        seen.update(path.name.encode())  # the folder may have been moved
    return seen.hexdigest()[:16]
