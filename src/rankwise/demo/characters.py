"""The bundled images: hand-written characters of eight alphabets, four of them for the test."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from rankwise.data.images import ImageSet, RetrievalSplits
from rankwise.files import read_npz

BUNDLE = Path(__file__).with_name("omniglot.npz")
SIDE = 32  # pixels


def read_characters() -> RetrievalSplits:
    """Read the drawings; the second half of the alphabets by name is the test part.

    Nothing is set aside for validation: which settings to use was chosen before (README.md).
    """
    held = read_npz(BUNDLE, foreign=True)
    ink = np.unpackbits(held["bits"], axis=1).reshape(-1, 1, SIDE, SIDE)
    pixels = torch.from_numpy(255 * (1 - ink))  # black on white, as they were drawn
    names = tuple(map(str, held["characters"]))
    labels = torch.from_numpy(held["character"].astype(np.int64))
    whole = ImageSet("Omniglot", labels, names, pixels=pixels)
    alphabets = np.array([name.partition("/")[0] for name in names])
    known = sorted(set(alphabets.tolist()))
    tested = np.isin(alphabets, known[len(known) // 2 :])[held["character"]]
    rows = {"train": np.flatnonzero(~tested), "test": np.flatnonzero(tested)}
    train, test = (
        whole.subset(torch.from_numpy(own), f"Omniglot {part}", renumber=True)
        for part, own in rows.items()
    )
    return RetrievalSplits(train, whole.subset([], "Omniglot validation", renumber=True), test)
