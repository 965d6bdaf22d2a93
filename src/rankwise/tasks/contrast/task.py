"""Contrastive training of a small network: images of a file, two views of each, one loss."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Unpack

import torch
from torch import Tensor, nn

from rankwise.data.errors import DataError
from rankwise.data.images.arrays import SplitArrays, read_split_arrays
from rankwise.distributed import gather_with_gradient
from rankwise.errors import UsageError
from rankwise.extras import require
from rankwise.objectives.contrastive import two_views
from rankwise.tasks.contrast.settings import Settings
from rankwise.training import Moment, Place, Record, RunFolder, Stage, Task, cosine_rate
from rankwise.vision.backbones import channels_last
from rankwise.vision.network import ImageNetwork
from rankwise.vision.run import ImageOptions, Trained, fit_images

_MIN_SIDE = 8  # pixels: the network halves them three times


class Images(SplitArrays):
    """Training and test images with their labels, and the names of the classes."""

    def fingerprint(self) -> str:
        """Return a digest of the training images."""
        return hashlib.sha256(self.x_train.numpy().tobytes()).hexdigest()[:16]


def read_images(path: Path) -> Images:
    """Read an npz file (:func:`~rankwise.data.images.arrays.read_split_arrays`) for contrast."""
    images = Images(*read_split_arrays(path))
    shape = tuple(images.x_train.shape)
    if min(shape[2:]) < _MIN_SIDE or not len(images.x_train) or not len(images.x_test):
        raise DataError(
            f"{path}: x_train and x_test must have images of at least {_MIN_SIDE} pixels a side, "
            f"got {shape[0]} and {len(images.x_test)} images of {shape[3]}×{shape[2]}"
        )
    if len(images.y_train.unique()) < 2:
        raise DataError(f"{path}: y_train must have at least two classes, got one")
    counts = images.y_test.bincount()
    if (counts > 0).sum() < 2 or counts.max() < 2:
        raise DataError(
            f"{path}: y_test must have two classes, one of them with two images, for retrieval"
        )
    return images


def make_views(height: int, width: int) -> Callable[[Tensor], Tensor]:
    """Return a function of pixels (n, 3, h, w), uint8, to two views (2n, 3, h, w) in [0, 1].

    The augmentations of SimCLR for small images (Chen et al. 2020) without blur: a crop of 20 to
    100 % of the area, flip, brightness, contrast, saturation 0.4 and hue 0.1 with probability 0.8,
    gray with 0.2. All randomness comes from torch's global generator.
    """
    require("rankwise.tasks.contrast", "kornia")
    from kornia import augmentation  # noqa: PLC0415  (an extra, and a second to import)

    steps = torch.nn.Sequential(
        augmentation.RandomResizedCrop((height, width), scale=(0.2, 1.0)),
        augmentation.RandomHorizontalFlip(),
        augmentation.ColorJitter(0.4, 0.4, 0.4, 0.1, p=0.8),
        augmentation.RandomGrayscale(p=0.2),
    )

    @torch.no_grad()
    def views(pixels: Tensor) -> Tensor:
        twice = pixels.repeat(2, 1, 1, 1).float() / 255
        changed: Tensor = steps(twice)
        return changed.clamp(0, 1)

    return views


class ContrastNet(ImageNetwork):
    """Pixels in [0, 1] to features (n, 8·width), and those to the embedding that is contrasted.

    Four convolutions with batch norm, the first three halving the image, then the mean over what is
    left; the head (SimCLR's, two layers) is only used in training.
    """

    def __init__(self, width: int = 32, dimension: int = 64) -> None:
        super().__init__()
        channels = (3, width, 2 * width, 4 * width, 8 * width)
        layers: list[nn.Module] = []
        for number in range(4):
            layers += [
                nn.Conv2d(channels[number], channels[number + 1], 3, padding=1, bias=False),
                nn.BatchNorm2d(channels[number + 1]),
                nn.ReLU(),
            ]
            if number < 3:
                layers.append(nn.MaxPool2d(2))
        self.body = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Sequential(
            nn.Linear(8 * width, 8 * width), nn.ReLU(), nn.Linear(8 * width, dimension)
        )
        channels_last(self)

    def features(self, images: Tensor) -> Tensor:
        """Return the features, which a linear classifier or cosines use after training."""
        standard = self.standardize(images)
        features: Tensor = self.body(standard.contiguous(memory_format=torch.channels_last))
        return features

    def forward(self, images: Tensor) -> Tensor:
        """Return the embedding (n, dimension)."""
        embedding: Tensor = self.head(self.features(images))
        return embedding


def new_network(images: Images, settings: Settings) -> ContrastNet:
    """Make the network before training; leaves torch's global generator seeded."""
    torch.manual_seed(settings.seed)
    network = ContrastNet(settings.width, settings.dimension)
    network.learn_statistics(images.x_train)
    return network


def steps_per_epoch(images: Images, settings: Settings, processes: int = 1) -> int:
    """Return the number of whole batches; the remaining images wait for the next epoch."""
    steps = len(images.x_train) // (settings.batch * processes)
    if steps == 0:
        each = "" if processes == 1 else f" in each of {processes} processes"
        raise UsageError(
            f"batch must be at most the {len(images.x_train)} training images, "
            f"got {settings.batch}{each}"
        )
    return steps


class ContrastTask(Task[Tensor]):
    """Batches are rows of the training images; all randomness is torch's global generator's.

    The loss and the batch norms are those of the joined batch of all processes.
    """

    network: ContrastNet
    counts_epochs = True
    joins_processes = True

    def __init__(self, images: Images, settings: Settings, place: Place | None = None) -> None:
        place = Place() if place is None else place
        self.images, self.settings = images, settings
        self.steps = steps_per_epoch(images, settings, place.world_size)
        super().__init__(
            new_network(images, settings),
            settings.loss(len(images.x_train)),
            [Stage(settings.epochs * self.steps, self.steps)],
            record=Record(settings.model_dump(), images.fingerprint(), settings.batch),
            place=place,
        )
        self.views = make_views(*images.x_train.shape[2:])

    def make_optimizer(self) -> torch.optim.Optimizer:
        rate, decay = self.settings.learning_rate, self.settings.weight_decay
        parameters = self.network.parameters()
        if self.settings.optimizer == "sgd":
            return torch.optim.SGD(parameters, rate, momentum=0.9, weight_decay=decay)
        return torch.optim.AdamW(parameters, rate, weight_decay=decay)

    def rate(self, step: int) -> float:
        return cosine_rate(self.settings.learning_rate, step, self.stages[0].steps)

    def batches(self, step: int) -> Iterator[Tensor]:
        size = self.settings.batch
        joined, own = size * self.place.world_size, self.place.rank * size
        while True:
            order = torch.randperm(len(self.images.x_train))
            for start in range(0, self.steps * joined, joined):
                yield order[start + own : start + own + size]

    def two_views_of(self, batch: Tensor) -> Tensor:
        """Return the views of a batch; each of several processes draws augmentations of its own."""
        pixels = self.images.x_train[batch].to(self.place.device)
        if self.place.world_size == 1:
            return self.views(pixels)
        seed = int(torch.randint(2**62, ()))  # of the generator that all processes share
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed + self.place.rank)
            return self.views(pixels)

    def step_loss(self, batch: Tensor, moment: Moment) -> Tensor:
        pixels = self.two_views_of(batch)
        with moment.autocast():
            embeddings = self.network(pixels)
        first, second = (gather_with_gradient(view) for view in embeddings.chunk(2))
        rows = gather_with_gradient(batch.to(self.place.device))
        loss: Tensor = self.loss(**two_views(first, second, rows)._asdict())
        return loss

    def validate(self) -> dict[str, float]:
        return {}


def train(
    images: Images,
    settings: Settings,
    out: Path | RunFolder | None = None,
    **options: Unpack[ImageOptions],
) -> Trained[ContrastNet]:
    """Train as :func:`~rankwise.vision.run.fit_images` does, an epoch between checkpoints."""
    make = partial(ContrastTask, images, settings)
    task, fitted = fit_images(make, out, "contrast", **options)
    return Trained(**vars(fitted), network=task.network)
