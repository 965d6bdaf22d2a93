"""Image retrieval as a task of the trainer: batches by class, the loss of embeddings, mAP."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Unpack

import torch
from torch import Tensor, nn

from rankwise.data.images import RetrievalSplits
from rankwise.data.images.image_set import fingerprint
from rankwise.errors import UsageError
from rankwise.retrieval import evaluate
from rankwise.samplers import ClassBatches
from rankwise.tasks.retrieval.losses import RetrievalLoss
from rankwise.tasks.retrieval.network import EmbeddingNet, make_network
from rankwise.tasks.retrieval.settings import Settings
from rankwise.training import CachedLoss, Moment, Place, RunFolder
from rankwise.vision.augmentations import draw_mixing, make_augmentation
from rankwise.vision.image_dataset import ImageBatch, ImageDataset, OnBroken
from rankwise.vision.run import ImageOptions, Trained, fit_images
from rankwise.vision.task import LabeledImageTask, require_validation


def new_network(dataset: ImageDataset, settings: Settings) -> EmbeddingNet:
    """Make the network before training; leaves torch's global generator seeded."""
    torch.manual_seed(settings.training.seed)
    network = make_network(settings.network)
    if network.backbone.uses_data_statistics:
        network.learn_statistics(dataset.sample_pixels())
    return network


class RetrievalTask(LabeledImageTask):
    """Batches of classes, each embedded in chunks (gradient caching) and ranked as a whole.

    With several processes each embeds its images and computes the loss of all.
    """

    network: EmbeddingNet
    loss: RetrievalLoss

    def __init__(
        self,
        splits: RetrievalSplits,
        settings: Settings,
        place: Place | None = None,
        *,
        workers: int = 0,
        on_broken: OnBroken | None = None,
    ) -> None:
        place = Place() if place is None else place
        batches = settings.batches
        self.settings, self.workers = settings, workers
        self.validation = ImageDataset(splits.validation, settings.augmentations)
        require_validation(
            settings.training,
            len(self.validation),
            "add images, set data.trainval to false, or leave patience out",
        )
        self.dataset = ImageDataset(splits.train, settings.augmentations, on_broken)
        self.labels = self.dataset.labels
        self.sampler = _sampler(self.labels, settings, place)
        super().__init__(
            new_network(self.dataset, settings),
            RetrievalLoss(
                settings.objective,
                settings.memory,
                self.labels,
                settings.network.dimension,
                mixes=settings.mixup.stages > 0,
            ),
            settings,
            data=fingerprint(splits.train),
            batch=batches.classes * batches.per_class,
            place=place,
            previous=settings.objective.previous,
        )
        self._check_chunk()
        self.augment = make_augmentation(settings.augmentations)

    def _check_chunk(self) -> None:
        batches = self.settings.batches
        size = batches.classes * batches.per_class
        if batches.chunk is not None and batches.chunk < size and self.network.depends_on_batch:
            raise UsageError(
                "batches.chunk needs a network that looks at one image at a time: set "
                "network.freeze_batch_norm: true, or norm: group in network.options of small"
            )

    def step_loss(self, batch: ImageBatch, moment: Moment) -> CachedLoss:
        device = self.place.device
        images = self.augment(batch.images, device)
        mixup, per_class = self.settings.mixup, self.settings.batches.per_class
        mixing = draw_mixing(len(images) // per_class, per_class, mixup.stages, images)
        chunk = self.settings.batches.chunk or len(images)

        def embed(number: int, start: int, network: nn.Module) -> Tensor:
            # The same random numbers in every pass over the same images (dropout, if any).
            moment.start(number)
            some = slice(start // per_class, (start + chunk) // per_class)
            weights = [v[some] for v in mixing]
            embeddings: Tensor = network(images[start : start + chunk], weights, mixup.u)
            return embeddings

        starts = enumerate(range(0, len(images), chunk), 1)
        passes = [partial(embed, number, start) for number, start in starts]
        rows = batch.rows.to(device)
        labels = self.labels.to(device)[rows]
        labels = labels[::per_class].repeat_interleave(per_class * 2**mixup.stages)
        known = {"labels": labels, "rows": rows if self.loss.needs_rows else None}
        return self.joint_loss(passes, moment, **known)

    def measure(self, outputs: Tensor) -> dict[str, float]:
        labels, hits = self.validation.images.labels, self.settings.data.hits
        return {"map": evaluate(outputs, labels, hits=hits).map}


def train(
    splits: RetrievalSplits,
    settings: Settings,
    out: Path | RunFolder | None = None,
    **options: Unpack[ImageOptions],
) -> Trained[EmbeddingNet]:
    """Train as :func:`~rankwise.vision.run.fit_images` does."""
    make = partial(RetrievalTask, splits, settings)
    task, fitted = fit_images(make, out, "retrieval", settings.training.precision, **options)
    return Trained(**vars(fitted), network=task.network)


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
