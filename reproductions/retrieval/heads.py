"""The pretrained setting: a linear head on features that do not change."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, normalize

from rankwise.memory import PreviousModel
from rankwise.retrieval import evaluate
from rankwise.samplers import ClassBatches
from rankwise.tasks.retrieval.losses import RetrievalLoss
from rankwise.tasks.retrieval.settings import Settings
from rankwise.training import make_optimizer, milestone_rate, parameter_groups, set_rate
from rankwise.vision.augmentations import draw_mixing, mix_features
from reproductions.retrieval.features import Features, Part


class Head(nn.Module):
    """Features by a linear map to unit vectors."""

    def __init__(self, channels: int, dimension: int) -> None:
        super().__init__()
        self.projection = nn.Linear(channels, dimension)

    def forward(self, features: Tensor, mixing: list[Tensor], u: float = 0.9) -> Tensor:
        """Unit vectors; every mixing before the map doubles the images of a class."""
        for weights in mixing:
            features = mix_features(features, weights, u)
        return normalize(self.projection(features), dim=-1)


def start_of(part: Part, dimension: int) -> Head:
    """The head before training: the features' principal directions, which lose least of them.

    A random map of 1280 numbers to 128 loses more than a short training on few classes regains.
    """
    head = Head(part.features.shape[1], dimension)
    directions = part.directions[:dimension]
    with torch.no_grad():
        head.projection.weight.zero_()
        head.projection.weight[: len(directions)] = directions
        head.projection.bias.zero_()
    return head


class HeadLearner:
    """Head, loss and optimizer, and the step that moves them; all randomness is the seed's."""

    def __init__(self, features: Features, settings: Settings) -> None:
        self.settings, self.part = settings, features.train
        torch.manual_seed(settings.training.seed)
        self.head = start_of(self.part, settings.network.dimension)
        self.loss = RetrievalLoss(settings, self.part.labels)
        self.previous = PreviousModel(self.head) if settings.objective.previous else None
        groups = parameter_groups(self.head, self.loss)
        self.optimizer = make_optimizer(groups, settings.optimizer)
        self.dropout = float(str(settings.network.options.get("dropout", 0.0)))
        self.done = 0

    def rate(self) -> float:
        """The learning rate of the next step."""
        chosen = self.settings.optimizer
        return milestone_rate(chosen.learning_rate, self.done, chosen.milestones, chosen.factor)

    def step(self, rows: Tensor) -> None:
        """One step on a batch, class after class."""
        mixup, per_class = self.settings.mixup, self.settings.batches.per_class
        words = (self.settings.training.seed, self.done)
        torch.manual_seed(int(np.random.SeedSequence(words).generate_state(1)[0]))
        features = dropout(self.part.features[rows], self.dropout)
        mixing = draw_mixing(len(rows) // per_class, per_class, mixup.stages, features)
        labels = self.part.labels[rows][::per_class]
        labels = labels.repeat_interleave(per_class * 2**mixup.stages)
        set_rate(self.optimizer, self.rate())
        before = None if self.previous is None else self.previous(features, mixing, mixup.u)
        embeddings = self.head(features, mixing, mixup.u)
        known = rows if self.loss.needs_rows else None
        loss = self.loss(embeddings, labels, step=self.done, rows=known, previous=before)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.done += 1


def train_head(features: Features, settings: Settings) -> tuple[Head, list[dict[str, float]]]:
    """The head of the best validation, and the validations; the caller's generator is untouched."""
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        learner = HeadLearner(features, settings)
        training, batches = settings.training, settings.batches
        sampler = ClassBatches(
            features.train.labels, batches.classes, batches.per_class, seed=training.seed
        )
        history: list[dict[str, float]] = []
        best, kept = -math.inf, {}
        while learner.done < training.steps:
            for rows in sampler:
                learner.step(torch.as_tensor(rows))
                step = learner.done
                if step % training.validate_every == 0 or step == training.steps:
                    value = validation_map(learner.head, features)
                    history.append({"step": step, "map": value})
                    if value > best:
                        state = learner.head.state_dict()
                        best, kept = value, {name: t.clone() for name, t in state.items()}
                if step == training.steps:
                    break
        learner.head.load_state_dict(kept)
        return learner.head.eval(), history


@torch.no_grad()
def validation_map(head: Head, features: Features) -> float:
    """The mAP of the validation images."""
    part = features.validation
    return evaluate(head(part.features, []), part.labels, hits=(1,)).map
