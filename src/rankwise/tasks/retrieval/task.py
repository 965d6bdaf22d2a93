"""Image retrieval as a task of the trainer: batches by class, the loss of embeddings, mAP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor, nn

from rankwise.data.images import BrokenImage, RetrievalSplits
from rankwise.data.images.image_set import fingerprint
from rankwise.distributed import gather_with_gradient
from rankwise.errors import UsageError
from rankwise.memory import PreviousModel
from rankwise.samplers import ClassBatches
from rankwise.tasks.retrieval.augmentation import make_views
from rankwise.tasks.retrieval.evaluate import judge
from rankwise.tasks.retrieval.image_dataset import Batch, Pictures, batches_from, some_pixels
from rankwise.tasks.retrieval.losses import RetrievalLoss
from rankwise.tasks.retrieval.network import EmbeddingNet, make_network
from rankwise.tasks.retrieval.settings import Settings
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
from rankwise.vision.mixup import draw_mixing

__all__ = ["RetrievalTask", "new_network"]


def new_network(pictures: Pictures, settings: Settings) -> EmbeddingNet:
    """The network before training; leaves torch's own generator seeded."""
    torch.manual_seed(settings.training.seed)
    network = make_network(settings.network)
    if network.backbone.uses_data_statistics:
        network.standardize(some_pixels(pictures))
    return network


class RetrievalTask(Task[Batch]):
    """Batches of classes, each embedded in chunks (gradient caching) and ranked as a whole.

    With several processes the batch is that of all of them together: each embeds its own images
    and takes the loss of all.
    """

    network: EmbeddingNet
    loss: RetrievalLoss
    monitor = "map"
    measures_start = True
    joins_processes = True

    def __init__(
        self,
        splits: RetrievalSplits,
        settings: Settings,
        *,
        place: Place | None = None,
        workers: int = 0,
        told: Callable[[BrokenImage], None] | None = None,
    ) -> None:
        place = Place() if place is None else place
        training, batches = settings.training, settings.batches
        self.settings, self.workers = settings, workers
        self.validation = Pictures(splits.validation, settings.augmentations)
        if training.patience is not None and len(self.validation) == 0:
            raise UsageError(
                "training.patience needs validation images, of which there are none: add "
                "images, set data.trainval to false, or leave patience out"
            )
        self.pictures = Pictures(splits.train, settings.augmentations, told)
        self.labels = self.pictures.labels
        self.sampler = _sampler(self.labels, settings, place)
        described = settings.model_dump()
        described["data"].pop("root")  # the folder may have been moved
        super().__init__(
            new_network(self.pictures, settings),
            RetrievalLoss(
                settings.objective,
                settings.memory,
                self.labels,
                settings.network.dimension,
                mixes=settings.mixup.stages > 0,
            ),
            [Stage(training.steps, training.validate_every, training.patience)],
            record=Record(
                described, fingerprint(splits.train), batches.classes * batches.per_class
            ),
            seed=training.seed,
            place=place,
            options=Options(training.precision),
        )
        self._check_chunk()
        self.previous = PreviousModel(self.network) if settings.objective.previous else None
        self.views = make_views(settings.augmentations)

    def _check_chunk(self) -> None:
        batches = self.settings.batches
        size = batches.classes * batches.per_class
        if batches.chunk is not None and batches.chunk < size and self.network.mixes_images:
            raise UsageError(
                "batches.chunk needs a network that looks at one image at a time: set "
                "network.freeze_batch_norm: true, or norm: group in network.options of small"
            )

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
        return batches_from(self.pictures, self.sampler, step, self.workers)

    def step_loss(self, batch: Batch, moment: Moment) -> CachedLoss:
        device = self.place.device
        pictures = self.views(batch.pictures, device)
        mixup, per_class = self.settings.mixup, self.settings.batches.per_class
        mixing = draw_mixing(len(pictures) // per_class, per_class, mixup.stages, pictures)
        chunk = self.settings.batches.chunk or len(pictures)

        def embed(number: int, start: int, network: nn.Module) -> Tensor:
            # The same random numbers in every pass over the same images (dropout, if any).
            moment.start(number)
            some = slice(start // per_class, (start + chunk) // per_class)
            weights = [v[some] for v in mixing]
            found: Tensor = network(pictures[start : start + chunk], weights, mixup.u)
            return found

        starts = enumerate(range(0, len(pictures), chunk), 1)
        passes = [partial(embed, number, start) for number, start in starts]
        rows = batch.rows.to(device)
        labels = self.labels.to(device)[rows]
        labels = labels[::per_class].repeat_interleave(per_class * 2**mixup.stages)
        before = previous_outputs(self.previous, passes, moment)
        known = {
            "labels": gather_with_gradient(labels),
            "rows": gather_with_gradient(rows) if self.loss.needs_rows else None,
            "previous": None if before is None else gather_with_gradient(before),
        }

        def loss(embeddings: Tensor) -> Tensor:
            found: Tensor = self.loss(gather_with_gradient(embeddings), step=moment.step, **known)
            return found

        return CachedLoss([partial(run, self.network) for run in passes], loss)

    def validate(self) -> dict[str, float]:
        if len(self.validation) == 0:
            return {}
        found = judge(
            self.network, self.validation, self.settings, workers=self.workers, place=self.place
        )
        return {"map": found.map}


def _sampler(labels: Tensor, settings: Settings, place: Place) -> ClassBatches:
    batches = settings.batches
    classes = int(labels.max()) + 1 if len(labels) else 0
    if batches.classes > classes:
        raise UsageError(
            f"batches.classes must be at most the {classes} classes of the training images, "
            f"got {batches.classes}"
        )
    return ClassBatches(
        labels,
        batches.classes,
        batches.per_class,
        seed=settings.training.seed,
        rank=place.rank,
        world_size=place.world_size,
    )
