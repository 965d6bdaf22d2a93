"""A detector as a task of the trainer: its batches, the loss of a step, validation by AP."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Unpack

import torch
from torch import Tensor

from rankwise.data.detection import DetectionSet, DetectionSplits
from rankwise.data.images.fingerprints import fingerprint_of
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
from rankwise.tasks.detection.network import Dense, Detector
from rankwise.tasks.detection.settings import Objective, Settings
from rankwise.tasks.detection.two_stage import (
    Regions,
    TwoStageLoss,
    assign_by_iou,
    make_detector,
)
from rankwise.training import Moment, Place, RunFolder
from rankwise.vision import DetectionLoss, DetectionLosses
from rankwise.vision.anchors import Assign
from rankwise.vision.image_dataset import OnBroken
from rankwise.vision.run import ImageOptions, Trained, fit_images
from rankwise.vision.task import ImageTask


def make_loss(chosen: Objective, classes: int, assign: Assign | None = None) -> DetectionLoss:
    """Make the loss of the settings, of the only stage or of one of two."""
    known = {"name", "warm_start", "previous", "regions"}
    try:
        terms = chosen.model_dump(exclude=known)
        loss = DetectionLoss(chosen.name, classes=classes, assign=assign, **terms)
    except (ValueError, RuntimeError) as error:
        raise UsageError(f"objective: {error}") from None
    if chosen.previous and not loss.uses_previous_logits:
        raise UsageError(f"objective.previous is for stable_ap, got {chosen.name}")
    return loss


def make_losses(settings: Settings, classes: int) -> DetectionLoss | TwoStageLoss:
    """Make the loss of the settings, of one stage or of two."""
    chosen = settings.objective
    if settings.network.stages == 1:
        return make_loss(chosen, classes)
    regions = chosen.replace(name=chosen.regions or "cross_entropy", previous=False)
    return TwoStageLoss(make_loss(chosen, 1), make_loss(regions, classes, assign_by_iou))


def warm_start(settings: Settings) -> Settings:
    """Return the settings of the first steps: focal loss, and cross-entropy of the regions."""
    weight = settings.objective.box_weight
    return settings.replace(objective=Objective(name="focal", box_weight=weight))


def new_detector(settings: Settings, classes: int) -> Detector:
    """Make the detector before training; leaves torch's global generator seeded."""
    rare = make_loss(settings.objective, classes).shift_sensitive
    torch.manual_seed(settings.training.seed)
    rare = rare or settings.objective.warm_start > 0
    return make_detector(settings.network, classes, rare=rare)


class DetectionTask(ImageTask[DetectionBatch]):
    """Batches of images with their boxes; ``cache`` shares the features of a frozen backbone."""

    network: Detector
    loss: DetectionLoss | TwoStageLoss
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
            make_losses(settings, classes),
            settings,
            data=fingerprint(splits.train, full=settings.data.verify == "full"),
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
        self.warm = make_losses(warm_start(settings), classes)

    def batches(self, step: int) -> Iterator[DetectionBatch]:
        size, place = self.settings.training.batch, (self.place.rank, self.place.world_size)
        if can_cache(self.network, self.settings.augmentations):
            return FeatureCache(self.dataset, self.network, self.cache).batches(size, step, place)
        return training_batches(self.dataset, size, step, self.workers, place)

    def step_loss(self, batch: DetectionBatch, moment: Moment) -> Tensor:
        return self.losses(batch, moment).total

    def losses(self, batch: DetectionBatch, moment: Moment) -> DetectionLosses:
        """Compute the parts of the loss of a batch, joined with those of other processes."""
        device, images = self.place.device, batch.images
        images = images.to(device) if isinstance(images, Tensor) else images
        known = [target["boxes"].to(device) for target in batch.targets]
        with moment.autocast():
            found = self.network(images, known)
        earlier: Dense | None = None
        if self.previous is not None:
            moment.start(0)  # the same random numbers as in the pass by the current parameters
            with moment.autocast():
                earlier = self._gathered(self.previous.train()(images, at=found))
        targets = batch.targets if self.place.world_size == 1 else _joined(batch.targets)
        return self.loss_of(self._gathered(found), targets, moment, earlier)

    def _gathered(self, found: Any) -> Dense:
        """Join an output with those of other processes, by rank."""
        if isinstance(found, Regions):
            found = replace(found, images=found.images + self.place.rank * len(found.logits))
        rows = {n: gather_with_gradient(v) for n, v in vars(found).items() if n != "anchors"}
        joined: Dense = replace(found, **rows)
        return joined

    def loss_of(
        self,
        found: Dense,
        targets: Sequence[Target],
        moment: Moment,
        previous: Dense | None = None,
    ) -> DetectionLosses:
        """Compute the parts of the loss of an output; ``previous`` is by the last parameters."""
        warm = moment.step < self.settings.objective.warm_start
        loss, previous = (self.warm, None) if warm else (self.loss, previous)
        losses: DetectionLosses
        if isinstance(loss, TwoStageLoss):
            losses = loss(found, targets, previous)
        else:
            earlier = None if previous is None else previous.logits
            dense = found.logits, found.regression, found.anchors
            losses = loss(*dense, targets, previous_logits=earlier)
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


def fingerprint(images: DetectionSet, *, full: bool = False) -> str:
    """Return digests of the images, their objects and their order, see :func:`fingerprint_of`."""
    objects = (one.boxes.numpy().tobytes() + one.labels.numpy().tobytes() for one in images.objects)
    labels = chain([",".join(images.classes).encode()], objects)
    return fingerprint_of(labels, paths=images.paths, pixels=images.pixels, full=full)


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
