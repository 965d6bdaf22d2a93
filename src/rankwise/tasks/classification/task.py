"""Classification as a task of the trainer: network, batches, loss of logits, mAP over classes."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Unpack

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import linear, normalize

from rankwise.data.images import ClassSplits, LabeledImages
from rankwise.data.images.image_set import fingerprint
from rankwise.errors import UsageError
from rankwise.samplers import BalancedBatches, ClassBatches, EpochBatches
from rankwise.tasks.classification.evaluate import evaluate_scores
from rankwise.tasks.classification.losses import ClassificationLoss
from rankwise.tasks.classification.settings import Batches, Settings
from rankwise.training import CachedLoss, Moment, Place, RunFolder
from rankwise.vision.augmentations import make_fast_augmentation
from rankwise.vision.backbones import make_backbone
from rankwise.vision.image_dataset import ImageBatch, ImageDataset, OnBroken
from rankwise.vision.network import ProjectedNetwork
from rankwise.vision.run import ImageOptions, Trained, fit_images
from rankwise.vision.task import LabeledImageTask, require_validation


class Classifier(ProjectedNetwork):
    """Images in [0, 1] to features by a backbone, and those to logits by a linear map.

    What is new in it comes from torch's global generator. With ``settings.cosine`` a logit is the
    cosine of the features and its class's vector, for which the margins of LDAM are meant.
    """

    def __init__(self, settings: Settings, logits: int) -> None:
        chosen = settings.network
        backbone = make_backbone(chosen.backbone, chosen.weights, chosen.options)
        super().__init__(backbone, logits, freeze_batch_norm=chosen.freeze_batch_norm)
        self.cosine = settings.cosine

    def forward(self, images: Tensor) -> Tensor:
        """Return logits (n, logits)."""
        features = self.backbone(self.standardize(images))
        if self.cosine:
            vectors = normalize(self.projection.weight.float(), dim=-1)
            return linear(normalize(features.float(), dim=-1), vectors)
        logits: Tensor = self.projection(features).float()
        return logits


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
    network = Classifier(settings, logits)
    if network.backbone.uses_data_statistics:
        network.learn_statistics(dataset.sample_pixels())
    return network


class ClassificationTask(LabeledImageTask):
    """Batches of images, ranked for every class; with several processes those of all together."""

    network: Classifier
    loss: ClassificationLoss

    def __init__(
        self,
        splits: ClassSplits,
        settings: Settings,
        place: Place | None = None,
        *,
        workers: int = 0,
        on_broken: OnBroken | None = None,
    ) -> None:
        place = Place() if place is None else place
        images = splits.train
        self.settings, self.workers, self.held_out = settings, workers, splits.validation
        self.validation = ImageDataset(splits.validation.images, settings.augmentations)
        require_validation(settings.training, self.validation, "raise data.validation_share")
        self.dataset = ImageDataset(images.images, settings.augmentations, on_broken)
        classes, seed = len(images.classes), settings.training.seed
        self.sampler = make_sampler(images.target, classes, settings.batches, seed, place)
        super().__init__(
            new_classifier(images, self.dataset, settings),
            ClassificationLoss(settings.objective, images.target, classes, cosine=settings.cosine),
            settings,
            data=fingerprint(images.images, full=settings.data.verify == "full"),
            batch=settings.batches.size,
            place=place,
        )
        self.target = images.target.to(place.device)
        self.augment = make_fast_augmentation(settings.augmentations)

    def step_loss(self, batch: ImageBatch, moment: Moment) -> CachedLoss:
        self.loss.begin(moment.step // len(self.sampler))
        device = self.place.device
        images, rows = self.augment(batch.images, device), batch.rows.to(device)
        known = {"target": self.target[rows], "rows": rows}
        return self.joint_loss([lambda network: network(images)], moment, **known)

    def measure(self, outputs: Tensor) -> dict[str, float]:
        images, max_fpr = self.held_out, self.settings.data.max_fpr
        result = evaluate_scores(outputs, images.target, images.classes, max_fpr=max_fpr)
        return {"map": result.map, "auroc": result.mean_auroc, "top_1": result.top_1}


def train(
    splits: ClassSplits,
    settings: Settings,
    out: Path | RunFolder | None = None,
    **options: Unpack[ImageOptions],
) -> Trained[Classifier]:
    """Train as :func:`~rankwise.vision.run.fit_images` does."""
    make = partial(ClassificationTask, splits, settings)
    task, fitted = fit_images(make, out, "classify", settings.training.precision, **options)
    return Trained(**vars(fitted), network=task.network)
