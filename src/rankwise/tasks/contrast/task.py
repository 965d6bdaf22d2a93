"""Contrastive training of a small network: two views of every image, one loss."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Unpack

import torch
from torch import Tensor, nn

from rankwise.distributed import gather_with_gradient
from rankwise.errors import UsageError
from rankwise.objectives.contrastive import two_views
from rankwise.tasks.contrast.data import Images, make_views
from rankwise.tasks.contrast.settings import Settings
from rankwise.training import Moment, Place, Record, RunFolder, Stage, Task, cosine_rate
from rankwise.vision.backbones import channels_last
from rankwise.vision.network import ImageNetwork
from rankwise.vision.run import ImageOptions, Trained, fit_images


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
        raise UsageError(
            f"batch must be at most the {len(images.x_train)} training images, got {settings.batch}"
        )
    return steps


class ContrastTask(Task[Tensor]):
    """Batches are rows of the training images; all randomness is torch's global generator's."""

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

    def step_loss(self, batch: Tensor, moment: Moment) -> Tensor:
        pixels = self.views(self.images.x_train[batch].to(self.place.device))
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
