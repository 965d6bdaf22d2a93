"""The same network trained on the same batches with three losses, side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from rankwise.data.images import RetrievalSplits
from rankwise.metrics import Comparison, compare_lists
from rankwise.retrieval import RetrievalResult, evaluate
from rankwise.tasks.retrieval.settings import Batches, Network, Objective, Settings
from rankwise.tasks.retrieval.task import RetrievalTask
from rankwise.training import Trainer
from rankwise.training.settings import EarlyStoppedTraining, Optimizer
from rankwise.vision.image_dataset import ImageDataset, compute_outputs
from rankwise.vision.settings import Augmentations


class Loss(NamedTuple):
    """A loss by the name of its rows, and as an objective."""

    name: str
    objective: str


LOSSES = (
    Loss("triplet", "triplet(margin=.1)"),
    Loss("SupCon", "sup_con(temperature=.05)"),
    Loss(
        "SOPRC",
        "soprc(score_scale=1, tau_fpr=.05, tau_tpr=.001, gain=fixed, semi_variance=[1, 5], "
        "outer=log)",
    ),
)
"""The last one is ours; their options were chosen on training alphabets (README.md)."""


class Size(NamedTuple):
    """Size of the network and of its training."""

    steps: int = 300
    width: int = 24
    looks: tuple[int, ...] = (30, 60, 100, 150, 200, 250, 300)  # steps to evaluate after


QUICK = Size(steps=8, width=4, looks=(4, 8))


@dataclass(frozen=True, eq=False)
class State:
    """Test embeddings of a network after some step, and how well they rank each other."""

    step: int
    embeddings: Tensor
    result: RetrievalResult


@dataclass(frozen=True, eq=False)
class Race:
    """States of the network of every loss; the first one is before training, the same for all."""

    splits: RetrievalSplits
    size: Size
    seed: int
    states: dict[str, list[State]]
    seconds: float  # of the processor

    @property
    def ours(self) -> str:
        """Name of our loss, the last one."""
        return list(self.states)[-1]

    @property
    def best_other(self) -> str:
        """Name of the other loss with the highest mAP at the end."""
        return max(list(self.states)[:-1], key=lambda name: self.last(name).map)

    def last(self, name: str) -> RetrievalResult:
        """Return the result of a loss after the last step."""
        return self.states[name][-1].result

    def difference(self, other: str) -> Comparison:
        """Compare the mAP of ours with that of another loss, class by class.

        Classes are what is resampled: the drawings of a character are not independent queries.
        """
        own, others = (
            torch.tensor(list(self.last(name).per_class.values()), dtype=torch.float64)
            for name in (self.ours, other)
        )
        return compare_lists(own, others)


def settings(loss: Loss, size: Size, seed: int) -> Settings:
    """Return the settings of a training; only the objective differs between the losses."""
    return Settings(
        network=Network(dimension=128, options={"width": size.width}),
        augmentations=Augmentations(resize=32, crop=28, flip=False, rotation=15),
        batches=Batches(classes=28, per_class=4),
        objective=Objective(name=loss.objective),
        optimizer=Optimizer(
            name="adamw",
            learning_rate=1e-3,
            weight_decay=1e-4,
            milestones=(round(0.7 * size.steps),),
        ),
        training=EarlyStoppedTraining(steps=size.steps, validate_every=size.steps, seed=seed),
    )


def run(
    splits: RetrievalSplits,
    size: Size,
    seed: int,
    losses: Sequence[Loss] = LOSSES,
    *,
    on_step: Callable[[int, int], None] = lambda loss, step: None,
    on_look: Callable[[int, list[float]], None] = lambda step, values: None,
) -> Race:
    """Train with all losses, a step of each in turn, and evaluate the unseen classes on the way.

    Which network is kept does not depend on the test images: it is the last one. ``on_step`` is
    called with the number of a loss and its step, ``on_look`` with a step and all values of mAP.
    """
    began = time.process_time()
    # The caller's random numbers are not touched.
    with torch.random.fork_rng(devices=[]):
        states = _trained(splits, size, seed, losses, on_step=on_step, on_look=on_look)
    return Race(splits, size, seed, states, time.process_time() - began)


def _trained(
    splits: RetrievalSplits,
    size: Size,
    seed: int,
    losses: Sequence[Loss],
    *,
    on_step: Callable[[int, int], None],
    on_look: Callable[[int, list[float]], None],
) -> dict[str, list[State]]:
    tasks = [RetrievalTask(splits, settings(loss, size, seed)) for loss in losses]
    test = ImageDataset(splits.test, tasks[0].settings.augmentations)

    def look(task: RetrievalTask, step: int) -> State:
        embeddings = compute_outputs(task.network, test)
        return State(step, embeddings, evaluate(embeddings, splits.test.labels, hits=(1,)))

    start = look(tasks[0], 0)
    states = {loss.name: [start] for loss in losses}
    trainers = [Trainer(task) for task in tasks]
    batches = [task.batches(0) for task in tasks]
    for step in range(1, size.steps + 1):
        for number, trainer in enumerate(trainers):
            trainer.advance(next(batches[number]))
            on_step(number, step)
        if step in size.looks:
            for loss, task in zip(losses, tasks, strict=True):
                states[loss.name].append(look(task, step))
            on_look(step, [states[loss.name][-1].result.map for loss in losses])
    return states
