"""Small pictures of two classes, for a study without data."""

from __future__ import annotations

import torch

from rankwise.data.images import ClassListing
from rankwise.data.images.image_set import ClassSplits, LabeledImages
from reproductions.longtail.measure import Plan
from reproductions.longtail.problems import Problem


def pictures(name: str, positives: int, negatives: int, seed: int) -> LabeledImages:
    """Positives are a little brighter on one side."""
    rng = torch.Generator().manual_seed(seed)
    target = torch.tensor([1] * positives + [0] * negatives)
    pixels = torch.randint(0, 200, (len(target), 1, 8, 8), generator=rng)
    pixels[target == 1, :, :, :3] += 40
    return ClassListing(name, target, ("rest", "bright"), pixels=pixels.to(torch.uint8)).images()


def splits(seed: int) -> ClassSplits:
    return ClassSplits(
        pictures("train", 10, 40, seed),
        pictures("validation", 6, 14, seed + 1),
        pictures("test", 6, 14, seed + 2),
    )


def tiny_plan(**changed: object) -> Plan:
    problems = tuple(Problem("generated", name, splits) for name in ("one", "two"))
    small = dict(steps=4, warm_start=1, every=2, width=2, resize=8, crop=7, size=16, positives=4)
    return Plan(problems, repeats=2, **{**small, **changed})  # type: ignore[arg-type]
