"""Small pictures of many classes: a pattern for each class, in random light."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from rankwise.data.images import ImageSet, RetrievalSplits
from rankwise.tasks.retrieval.evaluate import embed, embed_splits
from rankwise.tasks.retrieval.settings import Settings

SMALL: dict[str, Any] = {
    "data": {"hits": [1, 2]},
    "network": {"backbone": "small", "options": {"width": 2}, "dimension": 6},
    "augmentations": {"resize": 10, "crop": 8},
    "batches": {"classes": 3, "per_class": 2},
    "objective": {"name": "ap"},
    "optimizer": {"name": "adam", "learning_rate": 0.01, "weight_decay": 0.0},
    "training": {"steps": 6, "validate_every": 2},
}


def settings(*changes: str) -> Settings:
    """Small settings, with some changes."""
    return Settings.changed(SMALL, changes)


def images(name: str, classes: int, per_class: int = 4, *, seed: int = 0) -> ImageSet:
    """Classes of patterns that the seed draws, in noise."""
    rng = torch.Generator().manual_seed(seed)
    patterns = torch.randint(0, 200, (classes, 3, 9, 9), generator=rng)
    labels = torch.arange(classes).repeat_interleave(per_class)
    noise = torch.randint(0, 56, (len(labels), 3, 9, 9), generator=rng)
    pixels = (patterns[labels] + noise).to(torch.uint8)
    names = tuple(f"{name}{number}" for number in range(classes))
    return ImageSet(name, labels, names, pixels=pixels)


def splits(**changed: Any) -> RetrievalSplits:
    parts = RetrievalSplits(
        images("train", 6, seed=1), images("validation", 3, seed=2), images("test", 4, seed=3)
    )
    return replace(parts, **changed)


def states_equal(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[n], other[n]) for n in one)


def evaluate(network, gallery: ImageSet, chosen: Settings, queries: ImageSet | None = None):
    """The metrics of a gallery."""
    return embed(network, gallery, chosen, queries=queries).evaluate(chosen.data.hits)


def evaluate_splits(network, parts: RetrievalSplits, chosen: Settings, part: str = "test"):
    """The metrics of every gallery of a part."""
    found = embed_splits(network, parts, chosen, part)
    return {name: each.evaluate(chosen.data.hits) for name, each in found.items()}
