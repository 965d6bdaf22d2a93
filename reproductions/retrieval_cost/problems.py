"""Each data set as one pool of classes, and the classes of a seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from rankwise.data.images import ImageSet, RetrievalSplits
from rankwise.tasks.retrieval.settings import Network
from rankwise.vision.settings import Augmentations
from reproductions.retrieval.features import Features, Part, features_of
from reproductions.retrieval.problem import Problem

_PARTS = ("train", "validation", "test")
VALIDATION, TEST = 0.15, 0.25  # shares of the classes; the others are trained on


def pooled(splits: RetrievalSplits) -> ImageSet:
    """All images of a data set, whatever part they were in; no class is in two parts."""
    parts = [getattr(splits, name) for name in _PARTS]
    classes = tuple(name for part in parts for name in part.classes)
    starts = np.cumsum([0, *(len(part.classes) for part in parts)])
    labels = torch.cat([p.labels + int(s) for p, s in zip(parts, starts, strict=False)])
    name = splits.train.name.removesuffix(" train")
    if parts[0].pixels is not None:
        return ImageSet(name, labels, classes, pixels=torch.cat([p.pixels for p in parts]))
    return ImageSet(name, labels, classes, paths=tuple(f for p in parts for f in p.paths))


def rows_of(images: ImageSet, seed: int) -> dict[str, Tensor]:
    """The rows of each part for a seed.

    The validation classes are the same for all seeds: what chooses the settings is never a test
    class of any seed. The others are divided anew by each seed.
    """
    count = len(images.classes)
    order = np.random.default_rng(0).permutation(count)
    held, others = np.split(order, [round(VALIDATION * count)])
    others = np.random.default_rng((1, seed)).permutation(others)
    test, train = np.split(others, [round(TEST * count)])
    chosen = {"train": train, "validation": held, "test": test}
    known = images.labels.numpy()
    return {n: torch.from_numpy(np.flatnonzero(np.isin(known, c))) for n, c in chosen.items()}


@dataclass(frozen=True, eq=False)
class Pool:
    """All images of a data set."""

    name: str
    images: ImageSet
    augmentations: Augmentations

    def splits(self, seed: int) -> RetrievalSplits:
        """The three parts of a seed."""
        rows = rows_of(self.images, seed)
        train, validation, test = (
            self.images.subset(rows[name], f"{self.images.name} {name}", renumber=True)
            for name in _PARTS
        )
        return RetrievalSplits(train, validation, test)


def pool_of(problem: Problem) -> Pool:
    """The pool of a data set of the retrieval tables."""
    return Pool(problem.name, pooled(problem.splits), problem.augmentations)


@dataclass(frozen=True, eq=False)
class FeaturePool:
    """Features of all images of a pool, in its order."""

    features: Tensor
    images: ImageSet
    _kept: dict[int, Features] = field(default_factory=dict)

    def parts(self, seed: int) -> Features:
        """The three parts of a seed, standardized by its training images; made once."""
        if seed not in self._kept:
            self._kept[seed] = self._parts(seed)
        return self._kept[seed]

    def _parts(self, seed: int) -> Features:
        rows = rows_of(self.images, seed)
        own = self.features[rows["train"]]
        mean, deviation = own.mean(0), own.std(0, correction=0) + 1e-6
        return Features(**{name: self._part(own, mean, deviation) for name, own in rows.items()})

    def _part(self, rows: Tensor, mean: Tensor, deviation: Tensor) -> Part:
        labels = torch.unique(self.images.labels[rows], return_inverse=True)[1]
        return Part((self.features[rows] - mean) / deviation, labels)


def feature_pool(
    problem: Problem, pool: Pool, network: Network, views: Augmentations, path: Path | None
) -> FeaturePool:
    """Features of a pretrained network, from the file ``path`` or computed and written there."""
    found = features_of(problem.splits, network, views, path)
    parts: Mapping[str, Part] = vars(found)
    return FeaturePool(torch.cat([parts[name].features for name in _PARTS]), pool.images)
