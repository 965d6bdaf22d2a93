"""Both settings as something that takes steps: a head on features, and a whole network.

The learning rate falls along a cosine over the time of the training, not over its steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from rankwise.data.images import RetrievalSplits
from rankwise.samplers import ClassBatches
from rankwise.tasks.retrieval.settings import Settings
from rankwise.tasks.retrieval.task import RetrievalTask
from rankwise.training import Learner, cosine_rate
from rankwise.vision.image_dataset import ImageDataset, compute_outputs
from reproductions.retrieval.features import Features
from reproductions.retrieval.heads import HeadLearner, validation_map

_ENOUGH = 1000  # parts of the time that the cosine is cut into


class TimedLearner(ABC):
    """Takes steps; ``used`` is the share of the time that is over."""

    used: float = 0.0
    batches: Iterator[Any]
    network: nn.Module

    @abstractmethod
    def step(self) -> None:
        """Take one step on the next batch."""

    @abstractmethod
    def validate(self) -> float:
        """Return the mAP of the validation classes."""

    @abstractmethod
    def test(self) -> tuple[Tensor, Tensor]:
        """Return embeddings and labels of the test images."""


def _rate(settings: Settings, used: float) -> float:
    return cosine_rate(settings.optimizer.learning_rate, round(used * _ENOUGH), _ENOUGH)


class _Head(HeadLearner):
    used = 0.0

    def rate(self) -> float:
        return _rate(self.settings, self.used)


class FeatureLearner(TimedLearner):
    """Trains a linear head on features."""

    def __init__(self, features: Features, settings: Settings) -> None:
        self.features, self.inner = features, _Head(features, settings)
        self.network, chosen = self.inner.head, settings.batches
        seed = settings.training.seed
        sampler = ClassBatches(features.train.labels, chosen.classes, chosen.per_class, seed=seed)
        self.batches = (torch.as_tensor(rows) for _ in iter(int, 1) for rows in sampler)

    def step(self) -> None:
        self.inner.used = self.used
        self.inner.step(next(self.batches))

    def validate(self) -> float:
        return validation_map(self.inner.head, self.features)

    @torch.no_grad()
    def test(self) -> tuple[Tensor, Tensor]:
        part = self.features.test
        return self.inner.head(part.features, []), part.labels


class _Task(RetrievalTask):
    used = 0.0

    def rate(self, step: int) -> float:
        return _rate(self.settings, self.used)


class NetworkLearner(TimedLearner):
    """Trains a network on images, with gradient caching where a batch is larger than a chunk."""

    def __init__(self, splits: RetrievalSplits, settings: Settings) -> None:
        self.splits, self.settings = splits, settings
        self.task = _Task(splits, settings)
        self.learner, self.batches = Learner(self.task), self.task.batches(0)
        self.network = self.task.network

    def step(self) -> None:
        self.task.used = self.used
        self.learner.step(next(self.batches))

    def validate(self) -> float:
        with self.learner.evaluation():
            return self.task.validate()["map"]

    def test(self) -> tuple[Tensor, Tensor]:
        images = ImageDataset(self.splits.test, self.settings.augmentations)
        with self.learner.evaluation():
            return compute_outputs(self.task.network, images), self.splits.test.labels
