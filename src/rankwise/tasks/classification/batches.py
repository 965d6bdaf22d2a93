"""Samplers of a step: shuffled images, a number of positives, or a number per class."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from rankwise.data.images.image_set import LabeledImages
from rankwise.errors import UsageError
from rankwise.samplers import BalancedBatches, ClassBatches, EpochBatches
from rankwise.tasks.classification.settings import Batches, Settings
from rankwise.training import Place


class ShuffledBatches(EpochBatches):
    """Every item once in an epoch, in a new order; the last batch is filled up with the first."""

    def __init__(
        self, items: int, size: int, *, seed: int = 0, rank: int = 0, world_size: int = 1
    ) -> None:
        self.items, self.size = items, size
        super().__init__(math.ceil(items / size), seed, rank, world_size)

    @property
    def rate(self) -> float:
        """Share of the items that a batch has."""
        return self.size / self.items

    def plan(self, rng: np.random.Generator) -> list[NDArray[np.int64]]:
        order = np.resize(rng.permutation(self.items), (self._batches, self.size))
        return list(order.astype(np.int64))


def fit_batches(settings: Settings, train: LabeledImages) -> tuple[Settings, list[str]]:
    """Return settings whose batches the training images can fill, and a line on what changed.

    A batch has at most as many images as there are, and with ``per_class`` at most as many classes.
    """
    asked = settings.batches
    if asked.positives is not None:
        return settings, []  # the share of positives was asked for: the sampler refuses too many
    size, most = asked.size, len(train)
    if asked.per_class is not None:
        classes = int((train.counts > 0).sum())
        most = asked.per_class * classes
    if size <= most or most <= (asked.per_class or 1):
        return settings, []
    why = (
        f"there are {len(train)} training images"
        if asked.per_class is None
        else f"there are {classes} training classes, {asked.per_class} images of each in a batch"
    )
    line = f"batches: {most} images instead of {size}: {why}"
    return settings.replace(batches=asked.replace(size=most)), [line]


def make_sampler(
    target: Tensor, classes: int, batches: Batches, seed: int, place: Place
) -> EpochBatches:
    """The sampler of the settings for the targets of a training set."""
    binary = target.ndim == 1 and classes == 2
    if batches.positives is not None and not binary:
        raise UsageError("batches.positives is for two classes; use batches.per_class for several")
    if batches.per_class is not None and (binary or target.ndim == 2):
        raise UsageError("batches.per_class is for one of several classes by image")
    drawn = {"seed": seed, "rank": place.rank, "world_size": place.world_size}
    try:
        if batches.positives is not None:
            others = batches.size - batches.positives
            return BalancedBatches(target, batches.positives, others, **drawn)
        if batches.per_class is not None:
            wanted = batches.size // batches.per_class
            return ClassBatches(target, wanted, batches.per_class, **drawn)
    except ValueError as error:
        raise UsageError(f"batches: {error}") from None
    return ShuffledBatches(len(target), min(batches.size, len(target)), **drawn)
