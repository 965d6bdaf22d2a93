"""What the image tasks share as tasks of the trainer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence, Sized
from functools import partial
from typing import Protocol, TypeVar

import torch
from torch import Tensor, nn

from rankwise.distributed import gather_with_gradient
from rankwise.errors import UsageError
from rankwise.memory import PreviousModel
from rankwise.samplers import EpochBatches
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
    parameter_groups,
    previous_outputs,
)
from rankwise.training.settings import EarlyStoppedTraining, Optimizer, Training
from rankwise.vision.image_dataset import ImageBatch, ImageDataset, compute_outputs
from rankwise.vision.network import ImageNetwork
from rankwise.vision.settings import Backbone, Objective

Batch = TypeVar("Batch")


class ImageSettings(Protocol):
    """The settings of any image task."""

    @property
    def network(self) -> Backbone: ...
    @property
    def objective(self) -> Objective: ...
    @property
    def optimizer(self) -> Optimizer: ...
    @property
    def training(self) -> Training: ...
    def plain(self) -> dict[str, object]: ...


class ImageTask(Task[Batch]):
    """Base class of the image tasks; the batches of several processes are one joint batch."""

    measures_start = True
    joins_processes = True

    def __init__(
        self,
        network: nn.Module,
        loss: nn.Module,
        settings: ImageSettings,
        *,
        data: str,
        batch: int,
        place: Place | None = None,
        clip: float | None = None,
        warm_up: int = 0,
    ) -> None:
        training, known = settings.training, settings.plain()
        assert isinstance(known["data"], dict)
        del known["data"]["root"]  # the folder of the data may have been moved
        patience = training.patience if isinstance(training, EarlyStoppedTraining) else None
        super().__init__(
            network,
            loss,
            [Stage(training.steps, training.validate_every, patience)],
            record=Record(known, data, batch),
            seed=training.seed,
            place=place,
            options=Options(training.precision, clip),
        )
        self.chosen, self.warm_up = settings.optimizer, warm_up
        self.previous = PreviousModel(self.network) if settings.objective.previous else None

    def modules(self) -> dict[str, nn.Module]:
        parts = super().modules()
        return parts if self.previous is None else {**parts, "previous": self.previous}

    def make_optimizer(self) -> torch.optim.Optimizer:
        return make_optimizer(parameter_groups(self.network, self.loss), self.chosen)

    def rate(self, step: int) -> float:
        chosen = self.chosen
        return milestone_rate(
            chosen.learning_rate, step, chosen.milestones, chosen.factor, warm_up=self.warm_up
        )


class LabeledImageTask(ImageTask[ImageBatch]):
    """Base class of tasks on images with classes: their batches, and the joint loss of a step."""

    monitor = "map"
    network: ImageNetwork
    dataset: ImageDataset
    validation: ImageDataset
    sampler: EpochBatches
    workers: int

    def batches(self, step: int) -> Iterator[ImageBatch]:
        return self.dataset.batches(self.sampler, step, self.workers)

    @abstractmethod
    def measure(self, outputs: Tensor) -> dict[str, float]:
        """Return the metrics of the outputs for all validation images."""

    def validate(self) -> dict[str, float]:
        if len(self.validation) == 0:
            return {}
        found = compute_outputs(self.network, self.validation, self.workers, self.place)
        return self.measure(found)

    def joint_loss(
        self,
        passes: Sequence[Callable[[nn.Module], Tensor]],
        moment: Moment,
        **known: Tensor | None,
    ) -> CachedLoss:
        """Return the loss of the outputs of all processes; ``known`` has a row for each output."""

        def seeded(number: int, run: Callable[[nn.Module], Tensor], network: nn.Module) -> Tensor:
            # The same random numbers in every pass over the same images (dropout, if any).
            moment.start(number)
            return run(network)

        passes = [partial(seeded, number, run) for number, run in enumerate(passes, 1)]
        known["previous"] = previous_outputs(self.previous, passes, moment)
        joined = {n: None if v is None else gather_with_gradient(v) for n, v in known.items()}

        def loss(outputs: Tensor) -> Tensor:
            value: Tensor = self.loss(gather_with_gradient(outputs), step=moment.step, **joined)
            return value

        return CachedLoss([partial(run, self.network) for run in passes], loss)


def require_validation(training: EarlyStoppedTraining, images: Sized, remedy: str) -> None:
    """Raise where patience needs validation images, and there are none."""
    if training.patience is not None and len(images) == 0:
        raise UsageError(
            "training.patience needs validation images, of which there are none: "
            f"{remedy}, or leave patience out"
        )
