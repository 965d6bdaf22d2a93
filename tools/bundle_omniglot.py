"""Make the images of ``rankwise demo``: Omniglot's two small sets as 32 × 32 bits.

    python -m tools.bundle_omniglot FOLDER

``FOLDER`` has ``images_background_small1.zip`` and ``images_background_small2.zip`` of
github.com/brendenlake/omniglot (MIT). Equal images make equal bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from torch.nn.functional import interpolate

from rankwise.data.images.arrays import omniglot
from rankwise.demo.characters import BUNDLE, SIDE
from rankwise.files import write_npz

INK = 0.3  # share of a small pixel that must be drawn on: strokes stay connected, loops stay open


def bundle(folder: Path, out: Path = BUNDLE) -> Path:
    """Write the drawings of all characters, with alphabet, character and drawer of each."""
    found = omniglot(folder)
    assert found.pixels is not None
    drawn = interpolate(1 - found.pixels.float() / 255, size=(SIDE, SIDE), mode="area") >= INK
    characters, character = np.unique(found.labels, return_inverse=True)
    # Every character was drawn by the same number of people, who are numbered in the file names.
    order = np.argsort(character, kind="stable")
    drawers = np.arange(len(order)) - np.searchsorted(character[order], character[order])
    return write_npz(
        out,
        {
            "bits": np.packbits(drawn.numpy().reshape(len(drawn), -1)[order], axis=1),
            "character": character[order].astype(np.uint8),
            "drawer": (drawers + 1).astype(np.uint8),
            "characters": characters,
        },
    )


if __name__ == "__main__":
    print(bundle(Path(sys.argv[1])))
