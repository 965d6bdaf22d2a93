"""The interface between a task and the trainer: batches, the loss of a step, validation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from rankwise.memory import PreviousModel
from rankwise.training.devices import Place

StateDict = dict[str, Any]  # as untyped as the state dicts of torch that it is made of
Batch = TypeVar("Batch")


@dataclass(frozen=True)
class Stage:
    """Length of a part of a training, and how often it is validated.

    Args:
        steps: Maximum number of steps.
        validate_every: Steps between validations; every validation leaves a checkpoint.
        patience: Validations without a better value after which the stage ends; None: never.

    Example:
        >>> from rankwise.training import Stage
        >>> Stage(steps=100, validate_every=10, patience=3).patience
        3
    """

    steps: int
    validate_every: int
    patience: int | None = None


@dataclass(frozen=True)
class Options:
    """Options of a training step.

    Args:
        precision: One of :data:`PRECISIONS`.
        clip: Maximum norm of the gradient; None: no clipping.
        accumulate: Number of batches whose mean gradient makes a step.
        ema_rate: Weight of the new value in a moving average of the weights, which is then what
            is validated and kept; None: no average.

    Example:
        >>> from rankwise.training import Options
        >>> Options(precision="bf16", clip=1.0).accumulate
        1
    """

    precision: str = "32"
    clip: float | None = None
    accumulate: int = 1
    ema_rate: float | None = None


@dataclass(frozen=True)
class Record:
    """Identity of a run: it is resumed only where all of this is the same.

    Args:
        settings: Settings by name, which may be nested.
        data: Fingerprint of the training data.
        batch: Rows in a batch of one process.

    Example:
        >>> from rankwise.training import Record
        >>> Record({"learning_rate": 0.1}, data="3f9a", batch=64).batch
        64
    """

    settings: Mapping[str, object] = field(default_factory=dict)
    data: str = ""
    batch: int = 0


@dataclass(frozen=True)
class Moment:
    """Context of a step: its number, the process, the seed and the context of forward passes.

    Args:
        step: Number of the step from 0, or of the batch where a step has several.
        place: Device and process.
        seed: Seed of the training; None: generators are not seeded by step.
        autocast: Makes the context of a forward pass.

    Example:
        >>> import torch
        >>> from rankwise.training import Moment
        >>> moment = Moment(step=5, seed=0)
        >>> moment.start(0); first = torch.rand(1)
        >>> moment.start(0); bool(first == torch.rand(1))
        True
    """

    step: int
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

    Several passes are run one graph at a time (gradient caching, :func:`cached_backward`).

    Args:
        passes: Forward passes, each returning the outputs of some rows.
        loss: Loss of all outputs.

    Example:
        >>> import torch
        >>> from rankwise.training import CachedLoss
        >>> CachedLoss([lambda: torch.ones(2), lambda: torch.zeros(2)], torch.mean).loss.__name__
        'mean'
    """

    passes: Sequence[Callable[[], Tensor]]
    loss: Callable[[Tensor], Tensor]


class Task(ABC, Generic[Batch]):
    """Base class of what the trainer trains: a network, a loss, batches and validation.

    Args:
        network: Network that is trained, evaluated and kept.
        loss: Loss; its buffers and parameters belong to the checkpoint.
        stages: Stages in order; a later one starts from the best network so far.
        record: Identity of the run: what must be the same for it to be resumed.
        seed: Everything random in a step follows from it, the number of the step and of the
            process. None: random numbers are drawn from torch's generator, whose state is then
            what a resumed run starts from.
        place: Device and process.
        options: Options of a step.

    Example:
        A task defines these methods; :class:`Trainer` has one that runs.

        >>> from rankwise.training import Task
        >>> sorted(Task.__abstractmethods__)
        ['batches', 'make_optimizer', 'rate', 'step_loss', 'validate']
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


def previous_outputs(
    previous: PreviousModel | None, passes: Sequence[Callable[[nn.Module], Tensor]], moment: Moment
) -> Tensor | None:
    """Run the forward passes of a batch with the previous parameters, then replace these.

    Args:
        previous: Model with the parameters of the last step; None: nothing is run.
        passes: Forward passes of the batch, each called with the model.
        moment: Context of the step.

    Returns:
        Outputs joined along the first dimension, or None.

    Example:
        >>> import torch
        >>> from torch import nn
        >>> from rankwise.training import previous_outputs
        >>> from rankwise.memory import PreviousModel
        >>> from rankwise.training import Moment
        >>> layer = nn.Linear(1, 1, bias=False)
        >>> previous, rows = PreviousModel(layer), torch.ones(2, 1)
        >>> outputs = previous_outputs(previous, [lambda model: model(rows)], Moment(step=0))
        >>> bool((outputs == layer(rows)).all())  # nothing has moved yet
        True

    Reference:
        StableAP, Section 6.
    """
    if previous is None:
        return None
    found = []
    for number, run in enumerate(passes, 1):
        previous.train(number == len(passes))  # its parameters are replaced only once
        with moment.autocast():
            found.append(run(previous))
    return torch.cat(found)
