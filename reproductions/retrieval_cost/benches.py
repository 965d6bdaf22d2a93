"""A data set with a setting: everything that decides a training, and the learner of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from rankwise.tasks.retrieval.settings import Batches, Memory, Network, Objective, Settings
from rankwise.training.settings import EarlyStoppedTraining, Optimizer, Precision
from reproductions.retrieval.methods import Method
from reproductions.retrieval_cost.learners import FeatureLearner, NetworkLearner, TimedLearner
from reproductions.retrieval_cost.plan import Plan
from reproductions.retrieval_cost.problems import FeaturePool, Pool

_PER_CLASS = 4  # images of a class in a batch, or more where there are too few classes


def scratch_precision() -> Precision:
    """Precision of a network's step, the same for all methods.

    With AVX-512 bfloat16 takes .6 of the time of float32. Without, it is emulated, in 15 times the
    time.
    """
    return "bfloat16" if torch.cpu.get_capabilities().get("avx512_bw") else "float32"


@dataclass(frozen=True)
class Trial:
    """One training: a method with one of its settings, a rate, a batch and a seed."""

    method: Method
    objective: str
    rate: float
    batch: int
    seed: int


def batch_shape(labels: Tensor, batch: int) -> tuple[int, int]:
    """Classes and images a class of a batch of at most ``batch`` images, no image twice."""
    counts = torch.bincount(labels)
    classes = min(max(2, batch // _PER_CLASS), len(counts))
    return classes, min(batch // classes, int(counts.min()))


@dataclass(frozen=True, eq=False)
class Bench(ABC):
    """One data set in one setting."""

    name: str
    plan: Plan
    pool: Pool
    precision: ClassVar[Precision] = "float32"

    @property
    @abstractmethod
    def seconds(self) -> float:
        """Processor time of a training."""

    @property
    @abstractmethod
    def network(self) -> Network:
        """What is trained."""

    @abstractmethod
    def labels(self, seed: int) -> Tensor:
        """Classes of the training images of a seed."""

    @abstractmethod
    def learner(self, trial: Trial) -> TimedLearner:
        """A learner before its first step."""

    def shape(self, batch: int, seed: int) -> tuple[int, int]:
        """Classes and images a class of a batch."""
        return batch_shape(self.labels(seed), batch)

    def settings(self, trial: Trial, chunk: int | None = None) -> Settings:
        """Everything that decides a training apart from its time."""
        labels, method = self.labels(trial.seed), trial.method
        classes, per_class = batch_shape(labels, trial.batch)
        if chunk is not None:  # whole classes
            chunk = max(1, chunk // per_class) * per_class
        return Settings(
            network=self.network,
            augmentations=self.pool.augmentations,
            batches=Batches(classes=classes, per_class=per_class, chunk=chunk),
            objective=Objective(name=trial.objective, previous=method.previous),
            memory=Memory(size=len(labels) if method.memory else 0, start=0),
            optimizer=Optimizer(name="adamw", learning_rate=trial.rate, weight_decay=1e-4),
            training=EarlyStoppedTraining(seed=trial.seed, precision=self.precision),
        )


@dataclass(frozen=True, eq=False)
class OnFeatures(Bench):
    """A linear head on features that do not change."""

    features: FeaturePool

    @property
    def seconds(self) -> float:
        return self.plan.feature_seconds

    @property
    def network(self) -> Network:
        return Network(dimension=self.plan.dimension, options={"dropout": self.plan.dropout})

    def labels(self, seed: int) -> Tensor:
        return self.features.parts(seed).train.labels

    def learner(self, trial: Trial) -> FeatureLearner:
        return FeatureLearner(self.features.parts(trial.seed), self.settings(trial))


class FromScratch(Bench):
    """The small network on images; group norm looks at one image at a time, as caching needs."""

    precision = scratch_precision()

    @property
    def seconds(self) -> float:
        return self.plan.scratch_seconds

    @property
    def network(self) -> Network:
        options: dict[str, object] = {"width": self.plan.width, "norm": "group"}
        return Network(dimension=self.plan.dimension, options=options)

    def labels(self, seed: int) -> Tensor:
        return self.pool.splits(seed).train.labels

    def learner(self, trial: Trial) -> NetworkLearner:
        splits = self.pool.splits(trial.seed)
        return NetworkLearner(splits, self.settings(trial, self.plan.chunk))
