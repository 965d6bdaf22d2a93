"""What a task tells the trainer: its batches, the loss of a step, what validation measures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from rankwise.training.devices import Place

__all__ = ["CachedLoss", "Moment", "Options", "Record", "Stage", "Task"]

Batch = TypeVar("Batch")


@dataclass(frozen=True)
class Stage:
    """How long to train, and how often to validate."""

    steps: int  # maximum
    validate_every: int  # steps; every validation leaves a checkpoint
    patience: int | None = None  # validations without a better value, after which to stop


@dataclass(frozen=True)
class Options:
    """How a step is taken."""

    precision: str = "32"
    clip: float | None = None  # maximum norm of the gradient
    accumulate: int = 1  # batches whose mean gradient makes a step
    ema_rate: float | None = None  # of a moving average of the weights; None: no average


@dataclass(frozen=True)
class Record:
    """What must be the same for a run to be resumed."""

    settings: Mapping[str, object] = field(default_factory=dict)  # may be nested
    data: str = ""  # fingerprint of the training data
    batch: int = 0  # rows of a batch of one process


@dataclass(frozen=True)
class Moment:
    """A step from the inside: its number, the process, the seed, the context of forward passes."""

    step: int  # counted from 0, or over the batches where a step has several
    place: Place = field(default_factory=Place)
    seed: int | None = None
    autocast: Callable[[], AbstractContextManager[object]] = nullcontext

    def start(self, part: int) -> None:
        """Seed the generators in use for a part of the step; 0 is where every step begins."""
        if self.seed is None:
            return
        words = (self.seed, self.step, self.place.rank, part)
        seed = int(np.random.SeedSequence(words).generate_state(1)[0])
        # torch.manual_seed takes milliseconds, for all the generators there are.
        torch.default_generator.manual_seed(seed)
        if self.place.device.type == "cuda":
            torch.cuda.manual_seed(seed)


@dataclass(frozen=True)
class CachedLoss:
    """Forward passes, and a loss of their outputs joined along the first dimension.

    Several passes are run one graph at a time (gradient caching).
    """

    passes: Sequence[Callable[[], Tensor]]
    loss: Callable[[Tensor], Tensor]


class Task(ABC, Generic[Batch]):
    """A network, a loss, and what a training does with them.

    Args:
        network: What is trained, evaluated and kept.
        loss: Its buffers and parameters belong to the checkpoint.
        stages: One after the other; a later one starts from the best network so far.
        record: What must be the same for a run to be resumed.
        seed: Everything random in a step follows from it, the number of the step and of the
            process. None: random numbers are drawn from torch's generator, whose state is then
            what a resumed run starts from.
        place: The device and the process.
        options: How a step is taken.
    """

    monitor: str = ""  # the measure that chooses the best network, the higher the better
    counts_epochs: bool = False  # whether a validation ends an epoch
    measures_start: bool = False  # whether to validate before the first step
    joins_processes: bool = False  # whether the batches of several processes make one

    def __init__(
        self,
        network: nn.Module,
        loss: nn.Module,
        stages: Sequence[Stage],
        *,
        record: Record,
        seed: int | None = None,
        place: Place | None = None,
        options: Options | None = None,
    ) -> None:
        self.place = Place() if place is None else place
        self.network = network.to(self.place.device)
        self.loss = loss.to(self.place.device)
        self.stages, self.record, self.seed = tuple(stages), record, seed
        self.options = Options() if options is None else options

    @abstractmethod
    def make_optimizer(self) -> torch.optim.Optimizer:
        """Return a new optimizer of the parameters of network and loss."""

    @abstractmethod
    def rate(self, step: int) -> float:
        """Return the learning rate of a step of the stage, counted from 0."""

    @abstractmethod
    def batches(self, step: int) -> Iterator[Batch]:
        """Return the batches of a stage from a step on, without an end."""

    @abstractmethod
    def step_loss(self, batch: Batch, moment: Moment) -> Tensor | CachedLoss:
        """Return the loss of a batch with its graph, or the passes that make it."""

    @abstractmethod
    def validate(self) -> dict[str, float]:
        """Measure the network; without measures the last network is kept, not the best."""

    def begin(self, stage: int) -> None:
        """Prepare for a stage, before its optimizer is made."""

    def modules(self) -> dict[str, nn.Module]:
        """Return everything with a state but the optimizer, by its name in the checkpoint."""
        return {"network": self.network, "loss": self.loss}
