"""Small pictures of a few classes, of one each or of several labels."""

from __future__ import annotations

from typing import Any

import torch

from rankwise.data.images import ClassListing
from rankwise.data.images.image_set import ClassSplits, LabeledImages
from rankwise.tasks.classification.settings import Settings

SMALL: dict[str, Any] = {
    "network": {"backbone": "small", "options": {"width": 2}},
    "augmentations": {"resize": 10, "crop": 8},
    "batches": {"size": 12},
    "objective": {"name": "ap"},
    "optimizer": {"name": "adam", "learning_rate": 0.01, "weight_decay": 0.0},
    "training": {"steps": 6, "validate_every": 2},
}


def settings(*changes: str) -> Settings:
    """Small settings, with some changes."""
    return Settings.changed(SMALL, changes)


def images(
    name: str, counts: tuple[int, ...] = (12, 8, 4), *, several: bool = False, seed: int = 0
) -> LabeledImages:
    """A pattern for each class, the same for every part, in noise."""
    classes = len(counts)
    patterns = torch.randint(0, 120, (classes, 3, 9, 9), generator=torch.Generator().manual_seed(9))
    rng = torch.Generator().manual_seed(seed)
    target = torch.arange(classes).repeat_interleave(torch.tensor(counts))
    hot = torch.nn.functional.one_hot(target, classes)
    if several:
        hot = hot | (torch.rand(hot.shape, generator=rng) < 0.2)
    pixels = torch.einsum("nc,cdhw->ndhw", hot.double(), patterns.double()).clamp(max=200)
    pixels = (pixels + torch.randint(0, 55, pixels.shape, generator=rng)).to(torch.uint8)
    names = tuple(f"class{number}" for number in range(classes))
    return ClassListing(name, hot if several else target, names, pixels=pixels).images()


def splits(counts: tuple[int, ...] = (12, 8, 4), *, several: bool = False) -> ClassSplits:
    return ClassSplits(
        images("train", counts, several=several, seed=1),
        images("validation", tuple([4] * len(counts)), several=several, seed=2),
        images("test", tuple([5] * len(counts)), several=several, seed=3),
    )


TWO = (15, 6)
