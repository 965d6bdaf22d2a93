"""Classification as a task of the trainer: batches, the loss of logits, mAP over the classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor, nn

from rankwise.data.images import BrokenImage
from rankwise.data.images.image_set import ClassSplits, LabeledImages, fingerprint
from rankwise.distributed import gather_with_gradient
from rankwise.errors import UsageError
from rankwise.memory import PreviousModel
from rankwise.tasks.classification.batches import make_sampler
from rankwise.tasks.classification.evaluate import judge
from rankwise.tasks.classification.losses import ClassificationLoss
from rankwise.tasks.classification.network import Classifier, logits_for, make_classifier
from rankwise.tasks.classification.settings import Settings
from rankwise.tasks.classification.views import make_class_views, quick_batches
from rankwise.tasks.retrieval.image_dataset import Batch, Pictures, some_pixels
from rankwise.training import (
    CachedLoss,
    Moment,
    Options,
    Place,
    Record,
    Stage,
    Task,
    make_optimizer,
    milestone_rate,
    previous_outputs,
)

__all__ = ["ClassificationTask", "new_classifier"]


def new_classifier(images: LabeledImages, pictures: Pictures, settings: Settings) -> Classifier:
    """The network before training; leaves torch's own generator seeded."""
    torch.manual_seed(settings.training.seed)
    logits = logits_for(len(images.classes), multi_label=images.multi_label)
    network = make_classifier(settings, logits)
    if network.backbone.uses_data_statistics:
        network.standardize(some_pixels(pictures))
    return network


class ClassificationTask(Task[Batch]):
    """Batches of images, ranked for every class; with several processes those of all together."""

    network: Classifier
    loss: ClassificationLoss
    monitor = "map"
    measures_start = True
    joins_processes = True

    def __init__(
        self,
        splits: ClassSplits,
        settings: Settings,
        *,
        place: Place | None = None,
        workers: int = 0,
        told: Callable[[BrokenImage], None] | None = None,
    ) -> None:
        place = Place() if place is None else place
        training, images = settings.training, splits.train
        self.settings, self.workers, self.held_out = settings, workers, splits.validation
        self.validation = Pictures(splits.validation.images, settings.augmentations)
        if training.patience is not None and len(self.validation) == 0:
            raise UsageError(
                "training.patience needs validation images, of which there are none: raise "
                "data.validation_share, or leave patience out"
            )
        self.pictures = Pictures(images.images, settings.augmentations, told)
        classes = len(images.classes)
        self.sampler = make_sampler(images.target, classes, settings.batches, training.seed, place)
        described = settings.model_dump()
        described["data"].pop("root")  # the folder may have been moved
        super().__init__(
            new_classifier(images, self.pictures, settings),
            ClassificationLoss(settings.objective, images.target, classes, cosine=settings.cosine),
            [Stage(training.steps, training.validate_every, training.patience)],
            record=Record(described, fingerprint(images.images), settings.batches.size),
            seed=training.seed,
            place=place,
            options=Options(training.precision),
        )
        self.target = images.target.to(place.device)
        self.previous = PreviousModel(self.network) if settings.objective.previous else None
        self.views = make_class_views(settings.augmentations)

    def modules(self) -> dict[str, nn.Module]:
        parts = super().modules()
        return parts if self.previous is None else {**parts, "previous": self.previous}

    def make_optimizer(self) -> torch.optim.Optimizer:
        learned = [*self.network.parameters(), *self.loss.parameters()]
        return make_optimizer(learned, self.settings.optimizer)

    def rate(self, step: int) -> float:
        chosen = self.settings.optimizer
        return milestone_rate(chosen.learning_rate, step, chosen.milestones, chosen.factor)

    def batches(self, step: int) -> Iterator[Batch]:
        return quick_batches(self.pictures, self.sampler, step, self.workers)

    def step_loss(self, batch: Batch, moment: Moment) -> CachedLoss:
        self.loss.begin(moment.step // len(self.sampler))
        pictures = self.views(batch.pictures, self.place.device)

        def logits(network: nn.Module) -> Tensor:
            # The same random numbers in every pass over the same images (dropout, if any).
            moment.start(1)
            found: Tensor = network(pictures)
            return found

        rows = batch.rows.to(self.place.device)
        before = previous_outputs(self.previous, [logits], moment)
        known = {
            "target": gather_with_gradient(self.target[rows]),
            "rows": gather_with_gradient(rows),
            "previous": None if before is None else gather_with_gradient(before),
        }

        def loss(found: Tensor) -> Tensor:
            value: Tensor = self.loss(gather_with_gradient(found), step=moment.step, **known)
            return value

        return CachedLoss([partial(logits, self.network)], loss)

    def validate(self) -> dict[str, float]:
        if len(self.validation) == 0:
            return {}
        found = judge(
            self.network,
            self.held_out,
            self.settings,
            pictures=self.validation,
            workers=self.workers,
            place=self.place,
        )
        return {"map": found.map, "auroc": found.mean_auroc, "top_1": found.top_1}
