"""Classification as a task of the trainer: batches, the loss of logits, mAP over the classes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Unpack

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rankwise.data.images import ClassSplits, LabeledImages
from rankwise.data.images.image_set import fingerprint
from rankwise.distributed import gather_with_gradient
from rankwise.errors import UsageError
from rankwise.samplers import BalancedBatches, ClassBatches, EpochBatches
from rankwise.tasks.classification.evaluate import evaluate
from rankwise.tasks.classification.losses import ClassificationLoss
from rankwise.tasks.classification.network import Classifier, make_classifier
from rankwise.tasks.classification.settings import Batches, Settings
from rankwise.training import CachedLoss, Moment, Place, RunFolder, previous_outputs
from rankwise.vision.augmentations import make_fast_augmentation
from rankwise.vision.image_dataset import ImageBatch, ImageDataset, OnBroken, training_batches
from rankwise.vision.run import FitOptions, Trained, as_trained, fit_images
from rankwise.vision.task import ImageTask, require_validation


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
    """Make the sampler of the settings for the targets of a training set."""
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


def new_classifier(images: LabeledImages, dataset: ImageDataset, settings: Settings) -> Classifier:
    """Make the network before training; leaves torch's global generator seeded."""
    torch.manual_seed(settings.training.seed)
    # One logit says which of two classes it is; else every class has its own.
    logits = 1 if images.binary else len(images.classes)
    network = make_classifier(settings, logits)
    if network.backbone.uses_data_statistics:
        network.learn_statistics(dataset.sample_pixels())
    return network


class ClassificationTask(ImageTask[ImageBatch]):
    """Batches of images, ranked for every class; with several processes those of all together."""

    network: Classifier
    loss: ClassificationLoss
    monitor = "map"

    def __init__(
        self,
        splits: ClassSplits,
        settings: Settings,
        *,
        place: Place | None = None,
        workers: int = 0,
        on_broken: OnBroken | None = None,
    ) -> None:
        place = Place() if place is None else place
        images = splits.train
        self.settings, self.workers, self.held_out = settings, workers, splits.validation
        self.validation = ImageDataset(splits.validation.images, settings.augmentations)
        require_validation(
            settings.training,
            len(self.validation),
            "raise data.validation_share, or leave patience out",
        )
        self.dataset = ImageDataset(images.images, settings.augmentations, on_broken)
        classes, seed = len(images.classes), settings.training.seed
        self.sampler = make_sampler(images.target, classes, settings.batches, seed, place)
        super().__init__(
            new_classifier(images, self.dataset, settings),
            ClassificationLoss(settings.objective, images.target, classes, cosine=settings.cosine),
            settings,
            data=fingerprint(images.images),
            batch=settings.batches.size,
            place=place,
            previous=settings.objective.previous,
        )
        self.target = images.target.to(place.device)
        self.augment = make_fast_augmentation(settings.augmentations)

    def batches(self, step: int) -> Iterator[ImageBatch]:
        return training_batches(self.dataset, self.sampler, step, self.workers)

    def step_loss(self, batch: ImageBatch, moment: Moment) -> CachedLoss:
        self.loss.begin(moment.step // len(self.sampler))
        images = self.augment(batch.images, self.place.device)

        def forward(network: nn.Module) -> Tensor:
            # The same random numbers in every pass over the same images (dropout, if any).
            moment.start(1)
            logits: Tensor = network(images)
            return logits

        rows = batch.rows.to(self.place.device)
        before = previous_outputs(self.previous, [forward], moment)
        known = {
            "target": gather_with_gradient(self.target[rows]),
            "rows": gather_with_gradient(rows),
            "previous": None if before is None else gather_with_gradient(before),
        }

        def loss(logits: Tensor) -> Tensor:
            value: Tensor = self.loss(gather_with_gradient(logits), step=moment.step, **known)
            return value

        return CachedLoss([partial(forward, self.network)], loss)

    def validate(self) -> dict[str, float]:
        if len(self.validation) == 0:
            return {}
        result = evaluate(
            self.network,
            self.held_out,
            self.settings,
            dataset=self.validation,
            workers=self.workers,
            place=self.place,
        )
        return {"map": result.map, "auroc": result.mean_auroc, "top_1": result.top_1}


def train(
    splits: ClassSplits,
    settings: Settings,
    out: Path | RunFolder | None = None,
    *,
    workers: int = 0,
    on_broken: OnBroken | None = None,
    **options: Unpack[FitOptions],
) -> Trained[Classifier]:
    """Train as :func:`~rankwise.vision.run.fit_images` does."""

    def make(place: Place) -> ClassificationTask:
        return ClassificationTask(
            splits, settings, place=place, workers=workers, on_broken=on_broken
        )

    task, fitted = fit_images(make, out, "classify", settings.training.precision, **options)
    return as_trained(task.network, fitted)
