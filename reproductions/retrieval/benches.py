"""The two settings, each as something that trains and embeds: heads on features, whole networks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from rankwise.retrieval import evaluate
from rankwise.tasks.retrieval.settings import (
    Batches,
    Memory,
    Mixup,
    Network,
    Objective,
    Settings,
)
from rankwise.tasks.retrieval.task import EmbeddingNet, new_network, train
from rankwise.training.settings import EarlyStoppedTraining, Optimizer
from rankwise.vision.image_dataset import ImageDataset, compute_outputs
from reproductions.retrieval.features import Features
from reproductions.retrieval.heads import Head, start_of, train_head
from reproductions.retrieval.methods import Method
from reproductions.retrieval.plan import Budget, Plan
from reproductions.retrieval.problem import Problem

SGD_FACTOR = 100.0
"""Factor between the rates of SGD and those of AdamW."""

History = list[dict[str, float]]


@dataclass(frozen=True)
class Trial:
    """One training: a method with one of its tries and rates."""

    method: Method
    objective: str
    rate: float
    seed: int


@dataclass(frozen=True, eq=False)
class Bench(ABC):
    """One setting on one data set."""

    problem: Problem
    plan: Plan
    kind: ClassVar[str]
    stages: ClassVar[int]  # that mixup goes before

    @property
    @abstractmethod
    def budget(self) -> Budget:
        """What every training has."""

    @property
    @abstractmethod
    def network(self) -> Network:
        """What is trained."""

    @abstractmethod
    def train(self, trial: Trial) -> tuple[Any, History]:
        """The network of the best validation, and the validations."""

    @abstractmethod
    def start(self, trial: Trial) -> Any:
        """The network before the first step."""

    @abstractmethod
    def test(self, network: Any) -> Tensor:
        """Embeddings of the test images."""

    def settings(self, trial: Trial) -> Settings:
        """Everything that decides a training."""
        plan, budget, method = self.plan, self.budget, trial.method
        images = self.problem.splits.train
        falls: tuple[int, ...] = ()
        if budget.milestone is not None:
            falls = (max(1, round(budget.milestone * budget.steps)),)
        factor = SGD_FACTOR if method.optimizer == "sgd" else 1.0
        return Settings(
            network=self.network,
            augmentations=self.problem.augmentations,
            batches=Batches(
                classes=min(plan.classes, len(images.classes)), per_class=plan.per_class
            ),
            objective=Objective(
                name=trial.objective, warm_start=budget.warm_start, previous=method.previous
            ),
            # The memory counts its own batches, the warm start not among them.
            memory=Memory(size=len(images) if method.memory else 0, start=0),
            mixup=Mixup(stages=self.stages if method.mixup else 0),
            optimizer=Optimizer(
                name=method.optimizer,
                learning_rate=trial.rate * factor,
                weight_decay=budget.weight_decay,
                s=method.s,
                milestones=falls,
            ),
            training=EarlyStoppedTraining(
                steps=budget.steps,
                validate_every=max(1, budget.steps // budget.validations),
                precision=budget.precision,
                seed=trial.seed,
            ),
        )


@dataclass(frozen=True, eq=False)
class Pretrained(Bench):
    """A linear head on kept features; mixup mixes these features, before the head."""

    features: Features
    kind: ClassVar[str] = "pretrained"
    stages: ClassVar[int] = 1

    @property
    def budget(self) -> Budget:
        return self.plan.pretrained

    @property
    def network(self) -> Network:
        return Network(dimension=self.plan.dimension, options={"dropout": self.plan.dropout})

    def train(self, trial: Trial) -> tuple[Head, History]:
        return train_head(self.features, self.settings(trial))

    def start(self, trial: Trial) -> Head:
        with torch.random.fork_rng(devices=[]):
            return start_of(self.features.train, self.plan.dimension)

    @torch.no_grad()
    def test(self, network: Head) -> Tensor:
        found: Tensor = network(self.features.test.features, [])
        return found

    def untrained(self) -> dict[str, dict[str, float]]:
        """The test by the cosines of the features themselves, and by a head before training."""
        part = self.features.test
        head = start_of(self.features.train, self.plan.dimension)
        found = {}
        for name, embeddings in (("features", part.features), ("start", self.test(head))):
            result = evaluate(embeddings, part.labels, hits=(1,))
            found[name] = {
                "map": result.map,
                "hit": result.hit_at[1],
                "r_precision": result.r_precision,
            }
        return found


class Scratch(Bench):
    """The small network on images; mixup goes before its last two stages."""

    kind: ClassVar[str] = "from scratch"
    stages: ClassVar[int] = 2

    @property
    def budget(self) -> Budget:
        return self.plan.scratch

    @property
    def network(self) -> Network:
        return Network(dimension=self.plan.dimension, options={"width": self.plan.width})

    def train(self, trial: Trial) -> tuple[EmbeddingNet, History]:
        found = train(self.problem.splits, self.settings(trial))
        return found.network, found.history

    def start(self, trial: Trial) -> EmbeddingNet:
        images = ImageDataset(self.problem.splits.train, self.problem.augmentations)
        with torch.random.fork_rng(devices=[]):
            return new_network(images, self.settings(trial))

    def test(self, network: EmbeddingNet) -> Tensor:
        return compute_outputs(
            network, ImageDataset(self.problem.splits.test, self.problem.augmentations)
        )
