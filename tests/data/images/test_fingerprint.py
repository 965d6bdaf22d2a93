from __future__ import annotations

from pathlib import Path

import torch
from tests.tasks.retrieval.cases import images

from rankwise.data.images import ImageSet
from rankwise.data.images.fingerprint import fingerprint


def test_the_fingerprint_is_that_of_the_images_and_their_order():
    first = images("train", 3)
    assert fingerprint(first) == fingerprint(images("train", 3))
    assert fingerprint(first) != fingerprint(images("train", 3, seed=1))
    assert fingerprint(first) != fingerprint(first.subset(range(11, -1, -1)))

    def files(folder: str, name: str) -> ImageSet:
        return ImageSet(
            "files", torch.zeros(1, dtype=torch.long), ("a",), paths=(Path(folder, name),)
        )

    assert fingerprint(files("here", "1.jpg")) == fingerprint(files("there", "1.jpg"))
    assert fingerprint(files("here", "1.jpg")) != fingerprint(files("here", "2.jpg"))
