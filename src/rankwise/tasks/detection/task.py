"""A detector as a task of the trainer: its batches, the loss of a step, validation by AP."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Unpack

import torch
from torch import Tensor

from rankwise.data.detection import DetectionSet, DetectionSplits
from rankwise.distributed import gather_with_gradient
from rankwise.distributed.gather import Message, all_gather
from rankwise.errors import UsageError
from rankwise.tasks.detection.dataset import (
    Cache,
    DetectionBatch,
    DetectionDataset,
    FeatureCache,
    Target,
    can_cache,
    training_batches,
)
from rankwise.tasks.detection.evaluate import evaluate
from rankwise.tasks.detection.inference import Detections, detect_all
from rankwise.tasks.detection.network import Detector
from rankwise.tasks.detection.settings import Objective, Settings
from rankwise.training import Moment, Place, RunFolder
from rankwise.vision import ClassificationLoss, DetectionLoss, DetectionLosses
from rankwise.vision.image_dataset import OnBroken
from rankwise.vision.run import ImageOptions, Trained, fit_images
from rankwise.vision.task import ImageTask


def make_loss(chosen: Objective, classes: int) -> DetectionLoss:
    """Make the loss of the settings."""
    try:
        terms = chosen.model_dump(exclude={"name", "warm_start"})
        return DetectionLoss(chosen.name, classes=classes, **terms)
    except (ValueError, RuntimeError) as error:
        raise UsageError(f"objective: {error}") from None


def new_detector(settings: Settings, classes: int) -> Detector:
    """Make the detector before training; leaves torch's global generator seeded."""
    ranked = make_loss(settings.objective, classes).ranked
    shift_sensitive = isinstance(ranked, ClassificationLoss) and ranked.shift_sensitive
    torch.manual_seed(settings.training.seed)
    rare = shift_sensitive or settings.objective.warm_start > 0
    return Detector(settings.network, classes, rare=rare)


class DetectionTask(ImageTask[DetectionBatch]):
    """Batches of images with their boxes; ``cache`` shares the features of a frozen backbone."""

    network: Detector
    loss: DetectionLoss
    monitor = "ap"

    def __init__(
        self,
        splits: DetectionSplits,
        settings: Settings,
        place: Place | None = None,
        *,
        workers: int = 0,
        on_broken: OnBroken | None = None,
        cache: Cache | None = None,
    ) -> None:
        training, classes = settings.training, len(splits.train.classes)
        super().__init__(
            new_detector(settings, classes),
            make_loss(settings.objective, classes),
            settings,
            data=fingerprint(splits.train),
            batch=training.batch,
            place=place,
            clip=training.clip,
            warm_up=training.warm_up,
        )
        self.settings, self.validation, self.workers = settings, splits.validation, workers
        self.dataset = DetectionDataset(
            splits.train, settings.augmentations, training.seed, on_broken
        )
        self.cache: Cache = {} if cache is None else cache
        self.detections: list[Detections] = []  # of the last validation
        self.warm: DetectionLoss | None = None
        if settings.objective.warm_start:
            self.warm = DetectionLoss("focal", box_weight=settings.objective.box_weight)

    def batches(self, step: int) -> Iterator[DetectionBatch]:
        size, place = self.settings.training.batch, (self.place.rank, self.place.world_size)
        if can_cache(self.network, self.settings.augmentations):
            return FeatureCache(self.dataset, self.network, self.cache).batches(size, step, place)
        return training_batches(self.dataset, size, step, self.workers, place)

    def step_loss(self, batch: DetectionBatch, moment: Moment) -> Tensor:
        return self.losses(batch, moment).total

    def losses(self, batch: DetectionBatch, moment: Moment) -> DetectionLosses:
        """Compute the parts of the loss of a batch, joined with those of other processes."""
        images = batch.images
        with moment.autocast():
            dense = self.network(
                images.to(self.place.device) if isinstance(images, Tensor) else images
            )
        loss = self.loss
        if self.warm is not None and moment.step < self.settings.objective.warm_start:
            loss = self.warm
        targets = batch.targets if self.place.world_size == 1 else _joined(batch.targets)
        logits, regression = map(gather_with_gradient, (dense.logits, dense.regression))
        losses: DetectionLosses = loss(logits, regression, dense.anchors, targets)
        return losses

    def validate(self) -> dict[str, float]:
        self.detections = detect_all(self.network, self.validation, self.settings, cache=self.cache)
        result = evaluate(self.validation, self.detections)
        return {"ap": result.ap, "ap50": result.ap50}


@dataclass(frozen=True)
class TrainedDetector(Trained[Detector]):
    """The detector of the best validation, the history of its training, and its detections."""

    detections: list[Detections]  # in the validation images


def train(
    splits: DetectionSplits,
    settings: Settings,
    out: Path | RunFolder | None = None,
    *,
    cache: Cache | None = None,
    **options: Unpack[ImageOptions],
) -> TrainedDetector:
    """Train as :func:`~rankwise.vision.run.fit_images` does.

    Runs on the same images that are given one ``cache`` share the features of a frozen backbone.
    """
    cache = {} if cache is None else cache
    make = partial(DetectionTask, splits, settings, cache=cache)
    task, fitted = fit_images(make, out, "detect", settings.training.precision, **options)
    detections = task.detections
    if fitted.best_row < len(fitted.history) or not detections:
        detections = detect_all(task.network, splits.validation, settings, cache=cache)
    # The value is -inf where the validation images have no object.
    fitted = replace(fitted, best_value=max(-1.0, fitted.best_value))
    return TrainedDetector(**vars(fitted), network=task.network, detections=detections)


def fingerprint(images: DetectionSet) -> str:
    """Return a digest of the training images, their objects and their order."""
    seen = hashlib.sha256(",".join(images.classes).encode())
    for i, one in enumerate(images.objects):
        seen.update(one.boxes.numpy().tobytes() + one.labels.numpy().tobytes())
        seen.update(images.called(i).encode())  # the folder may have been moved
        if images.pixels is not None:
            seen.update(images.pixels[i].contiguous().numpy().tobytes())
    return seen.hexdigest()[:16]


def _joined(targets: list[Target]) -> list[Target]:
    """Return the objects of the images of all processes, by rank."""
    boxes, labels = (torch.cat([target[n] for target in targets]) for n in ("boxes", "labels"))
    counts = torch.tensor([len(target["labels"]) for target in targets])
    joined: list[Target] = []
    own = Message({}, {"boxes": boxes, "labels": labels, "counts": counts})
    for message in all_gather(own, boxes.device):
        sizes = message.columns["counts"].tolist()
        parts = zip(*(message.columns[n].split(sizes) for n in ("boxes", "labels")), strict=True)
        joined += [{"boxes": some, "labels": names} for some, names in parts]
    return joined
