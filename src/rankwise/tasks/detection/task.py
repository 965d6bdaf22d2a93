"""A detector as a task of the trainer: its batches, the loss of a step, validation by AP."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from rankwise.data.detection import DetectionSet, DetectionSplits
from rankwise.data.images import BrokenImage
from rankwise.distributed import gather_with_gradient
from rankwise.distributed.parcel import Parcel, exchange
from rankwise.errors import UsageError
from rankwise.tasks.detection.batches import Batch, Pictures, Target, training_batches
from rankwise.tasks.detection.evaluation import detect_all, evaluate
from rankwise.tasks.detection.finding import Detections
from rankwise.tasks.detection.frozen import KeptMaps, can_keep
from rankwise.tasks.detection.network import Detector, make_detector
from rankwise.tasks.detection.settings import Objective, Settings
from rankwise.training import (
    Moment,
    Options,
    Place,
    Record,
    Stage,
    Task,
    make_optimizer,
    milestone_rate,
)
from rankwise.vision.classification_loss import ClassificationLoss
from rankwise.vision.detection_loss import DetectionLoss, DetectionLosses

__all__ = ["DetectionTask", "fingerprint", "make_loss", "new_detector"]


def make_loss(chosen: Objective, classes: int) -> DetectionLoss:
    """The loss of the settings; what cannot be is an error of usage."""
    try:
        return DetectionLoss(
            chosen.name,
            pooled=chosen.pooled,
            classes=classes,
            box_weight=chosen.box_weight,
            bias_weight=chosen.bias_weight,
            bias_form="sum" if chosen.bias_form == "sum" else "mean",
            classification_weight=chosen.classification_weight,
        )
    except (ValueError, RuntimeError) as error:
        raise UsageError(f"objective: {error}") from None


def new_detector(settings: Settings, classes: int) -> Detector:
    """The detector before training; leaves torch's own generator seeded."""
    ranked = make_loss(settings.objective, classes).ranked
    shift_sensitive = isinstance(ranked, ClassificationLoss) and ranked.shift_sensitive
    torch.manual_seed(settings.training.seed)
    return make_detector(
        settings.network, classes, rare=shift_sensitive or settings.objective.warm_start > 0
    )


class DetectionTask(Task[Batch]):
    """Batches of images with their boxes; ``kept`` shares the maps of a frozen backbone."""

    network: Detector
    loss: DetectionLoss
    monitor = "ap"
    measures_start = True
    joins_processes = True

    def __init__(
        self,
        splits: DetectionSplits,
        settings: Settings,
        *,
        place: Place | None = None,
        workers: int = 0,
        told: Callable[[BrokenImage], None] | None = None,
        kept: dict[Any, Any] | None = None,
    ) -> None:
        training, classes = settings.training, len(splits.train.classes)
        described = settings.model_dump()
        described["data"].pop("root")  # the folder may have been moved
        super().__init__(
            new_detector(settings, classes),
            make_loss(settings.objective, classes),
            [Stage(training.steps, training.validate_every)],
            record=Record(described, fingerprint(splits.train), training.batch),
            seed=training.seed,
            place=place,
            options=Options(training.precision, training.clip),
        )
        self.settings, self.validation, self.workers = settings, splits.validation, workers
        self.pictures = Pictures(splits.train, settings.augmentations, training.seed, told)
        self.kept: dict[Any, Any] = {} if kept is None else kept
        self.found: list[Detections] = []  # in the validation images, when they were last seen
        self.warm: DetectionLoss | None = None
        if settings.objective.warm_start:
            self.warm = DetectionLoss("focal", box_weight=settings.objective.box_weight)

    def make_optimizer(self) -> torch.optim.Optimizer:
        learned = [*self.network.parameters(), *self.loss.parameters()]
        return make_optimizer(learned, self.settings.optimizer)

    def rate(self, step: int) -> float:
        chosen, warm_up = self.settings.optimizer, self.settings.training.warm_up
        return milestone_rate(
            chosen.learning_rate, step, chosen.milestones, chosen.factor, warm_up=warm_up
        )

    def batches(self, step: int) -> Iterator[Batch]:
        size, place = self.settings.training.batch, (self.place.rank, self.place.world_size)
        if can_keep(self.network, self.settings.augmentations):
            return KeptMaps(self.pictures, self.network, self.kept).batches(size, step, place)
        return training_batches(self.pictures, size, step, self.workers, place)

    def step_loss(self, batch: Batch, moment: Moment) -> Tensor:
        return self.losses(batch, moment).total

    def losses(self, batch: Batch, moment: Moment) -> DetectionLosses:
        """Compute the parts of the loss of a batch, joined with those of other processes."""
        given = batch.pictures
        with moment.autocast():
            dense = self.network(
                given.to(self.place.device) if isinstance(given, Tensor) else given
            )
        loss = self.loss
        if self.warm is not None and moment.step < self.settings.objective.warm_start:
            loss = self.warm
        targets = batch.targets
        if self.place.world_size > 1:
            targets = _joined(targets)
        logits, regression = map(gather_with_gradient, (dense.logits, dense.regression))
        found: DetectionLosses = loss(logits, regression, dense.anchors, targets)
        return found

    def validate(self) -> dict[str, float]:
        self.found = detect_all(self.network, self.validation, self.settings, kept=self.kept)
        result = evaluate(self.validation, self.found)
        return {"ap": result.ap, "ap50": result.ap50}


def fingerprint(pictures: DetectionSet) -> str:
    """A word that changes when the training pictures or their objects do, or their order."""
    seen = hashlib.sha256(",".join(pictures.classes).encode())
    for i, one in enumerate(pictures.objects):
        seen.update(one.boxes.numpy().tobytes() + one.labels.numpy().tobytes())
        seen.update(pictures.called(i).encode())  # the folder may have been moved
        if pictures.pixels is not None:
            seen.update(pictures.pixels[i].contiguous().numpy().tobytes())
    return seen.hexdigest()[:16]


def _joined(targets: list[Target]) -> list[Target]:
    """The objects of the images of all processes, by rank."""
    boxes, labels = (torch.cat([target[n] for target in targets]) for n in ("boxes", "labels"))
    counts = torch.tensor([len(target["labels"]) for target in targets])
    found: list[Target] = []
    own = Parcel({}, {"boxes": boxes, "labels": labels, "counts": counts})
    for parcel in exchange(own, boxes.device):
        sizes = parcel.columns["counts"].tolist()
        parts = zip(*(parcel.columns[n].split(sizes) for n in ("boxes", "labels")), strict=True)
        found += [{"boxes": some, "labels": names} for some, names in parts]
    return found
