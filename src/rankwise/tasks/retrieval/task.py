"""Image retrieval as a task of the trainer: network, batches by class, loss of embeddings, mAP."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Unpack

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from rankwise.data.images import RetrievalSplits
from rankwise.data.images.image_set import fingerprint
from rankwise.errors import UsageError
from rankwise.retrieval import evaluate
from rankwise.samplers import ClassBatches
from rankwise.tasks.retrieval.losses import RetrievalLoss
from rankwise.tasks.retrieval.settings import Network, Settings
from rankwise.training import CachedLoss, Moment, Place, RunFolder
from rankwise.vision.augmentations import draw_mixing, make_augmentation, mixed_stages
from rankwise.vision.backbones import make_backbone
from rankwise.vision.image_dataset import ImageBatch, ImageDataset, OnBroken
from rankwise.vision.network import ProjectedNetwork
from rankwise.vision.run import ImageOptions, Trained, fit_images
from rankwise.vision.task import LabeledImageTask, require_validation


class EmbeddingNet(ProjectedNetwork):
    """Images in [0, 1] to features by a backbone, and those by a linear map to unit vectors."""

    def forward(self, images: Tensor, mixing: Sequence[Tensor] = (), u: float = 0.9) -> Tensor:
        """Return unit vectors (n, dimension).

        With ``mixing``, one set of weights by class for each of the last stages, class after class
        of equal size (:mod:`rankwise.vision.augmentations`), each of them doubles the images.
        """
        standard = self.standardize(images)
        with mixed_stages(self.backbone.stages if mixing else (), mixing, u):
            features = self.backbone(standard)
        # Unit vectors in half precision would be apart by more than close neighbors are.
        with torch.autocast(features.device.type, enabled=False):
            projected = self.projection(features.to(self.projection.weight.dtype))
            return normalize(projected.float(), dim=-1)


def make_network(settings: Network) -> EmbeddingNet:
    """Make the network of the settings; what is new in it comes from torch's global generator."""
    backbone = make_backbone(settings.backbone, settings.weights, settings.options)
    return EmbeddingNet(backbone, settings.dimension, freeze_batch_norm=settings.freeze_batch_norm)


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
        remedy = "add images, set data.trainval to false"
        require_validation(settings.training, self.validation, remedy)
        self.dataset = ImageDataset(splits.train, settings.augmentations, on_broken)
        self.labels, known = self.dataset.labels, len(self.dataset.classes)
        if batches.classes > known:
            raise UsageError(
                f"batches.classes must be at most the {known} classes of the training images, "
                f"got {batches.classes}"
            )
        self.sampler = ClassBatches(
            self.labels,
            batches.classes,
            batches.per_class,
            seed=settings.training.seed,
            rank=place.rank,
            world_size=place.world_size,
        )
        size = batches.classes * batches.per_class
        super().__init__(
            new_network(self.dataset, settings),
            RetrievalLoss(settings, self.labels, splits.train.tree),
            settings,
            data=fingerprint(splits.train, full=settings.data.verify == "full"),
            batch=size,
            place=place,
        )
        if (batches.chunk or size) < size and self.network.depends_on_batch:
            raise UsageError(
                "batches.chunk needs a network that looks at one image at a time: set "
                "network.freeze_batch_norm: true, or norm: group in network.options of small"
            )
        self.augment = make_augmentation(settings.augmentations)

    def step_loss(self, batch: ImageBatch, moment: Moment) -> CachedLoss:
        device = self.place.device
        images = self.augment(batch.images, device)
        mixup, per_class = self.settings.mixup, self.settings.batches.per_class
        mixing = draw_mixing(len(images) // per_class, per_class, mixup.stages, images)
        chunk = self.settings.batches.chunk or len(images)

        def embed(start: int, network: nn.Module) -> Tensor:
            some = slice(start // per_class, (start + chunk) // per_class)
            weights = [v[some] for v in mixing]
            embeddings: Tensor = network(images[start : start + chunk], weights, mixup.u)
            return embeddings

        passes = [partial(embed, start) for start in range(0, len(images), chunk)]
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
