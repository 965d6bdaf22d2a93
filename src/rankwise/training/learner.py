"""One step of training, for any loop around it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Generic, TypeVar

import torch
from torch import Tensor

from rankwise.training.averaging import WeightAverage
from rankwise.training.batch_norm import join_batch_norms
from rankwise.training.devices import Devices
from rankwise.training.gradient_cache import cached_backward
from rankwise.training.optimizers import set_rate
from rankwise.training.task import Moment, StateDict, Task

Batch = TypeVar("Batch")


class Learner(Generic[Batch]):
    """Optimizer of a task, and the step that moves network and loss.

    ``done`` is the number of steps taken in the stage: together with the seed it decides
    everything random in the next one.

    Args:
        task: Task to train.
        devices: Device, precision and processes; those of the task's options unless given.

    Example:
        >>> import torch
        >>> from rankwise.training import Learner, Record, Stage, Task
        >>> class Line(Task[torch.Tensor]):
        ...     monitor = "negative_error"
        ...     def make_optimizer(self):
        ...         return torch.optim.SGD(self.network.parameters(), lr=0.1)
        ...     def rate(self, step):
        ...         return 0.1
        ...     def batches(self, step):
        ...         while True:
        ...             yield torch.tensor([[1.0], [2.0]])
        ...     def step_loss(self, batch, moment):
        ...         return self.loss(self.network(batch), 3 * batch)
        ...     def validate(self):
        ...         return {"negative_error": -abs(self.network.weight.item() - 3)}
        >>> network, loss = torch.nn.Linear(1, 1, bias=False), torch.nn.MSELoss()
        >>> learner = Learner(Line(network, loss, [Stage(40, 10)], record=Record(), seed=0))
        >>> batches = learner.task.batches(0)
        >>> while learner.done < 40:  # a loop of your own
        ...     loss = learner.step(next(batches))
        >>> round(loss, 3)
        0.0
    """

    def __init__(self, task: Task[Batch], devices: Devices | None = None) -> None:
        self.task = task
        if devices is None:
            devices = Devices(task.options.precision, task.place.device)
        self.devices = devices
        rate = task.options.ema_rate
        self.average = None if rate is None else WeightAverage(task.network, rate)
        if devices.place.world_size > 1:
            for module in task.modules().values():
                join_batch_norms(module)
        self.begin(0)
        devices.share_state(task.network)

    def begin(self, stage: int) -> None:
        """Start a stage with a new optimizer."""
        self.task.begin(stage)
        self.optimizer = self.task.make_optimizer()
        self.done = 0

    def step(self, *batches: Batch) -> float:
        """Take one step on the mean loss of the batches, and return that loss."""
        task = self.task
        task.network.train()
        task.loss.train()
        set_rate(self.optimizer, task.rate(self.done))
        self.optimizer.zero_grad()
        values = []
        own = task.seed is not None  # otherwise random numbers go on from step to step
        with torch.random.fork_rng(devices=[], enabled=own), torch.enable_grad():
            for number, batch in enumerate(batches, self.done * len(batches)):
                moment = Moment(number, task.place, task.seed, self.devices.autocast)
                moment.start(0)
                values.append(self._gradient(batch, moment, len(batches)))
        self.devices.step(self.optimizer, task.options.clip)
        if self.average is not None:
            self.average.update()
        self.done += 1
        return sum(values) / len(values)

    @contextmanager
    def evaluation(self) -> Iterator[None]:
        """Set the network up for evaluation: no gradients, averaged weights if there are any."""
        self.devices.share_state(self.task.network, buffers_only=True)
        self.task.network.eval()
        averaged = nullcontext() if self.average is None else self.average.applied()
        with torch.no_grad(), averaged:
            yield

    def state_dict(self) -> StateDict:
        """Return everything that the next step starts from."""
        parts = {name: module.state_dict() for name, module in self.task.modules().items()}
        state = {"step": self.done, "optimizer": self.optimizer.state_dict(), **parts}
        state["scaler"] = self.devices.scaler.state_dict()
        state["average"] = {} if self.average is None else self.average.state_dict()
        return state

    def load_state_dict(self, state: StateDict) -> None:
        """Restore what :meth:`state_dict` returned."""
        for name, module in self.task.modules().items():
            module.load_state_dict(state[name])
        self.optimizer.load_state_dict(state["optimizer"])
        self.devices.scaler.load_state_dict(state["scaler"])
        if self.average is not None:
            self.average.load_state_dict(state["average"])
        self.done = int(state["step"])

    def _gradient(self, batch: Batch, moment: Moment, batches: int) -> float:
        def backward(loss: Tensor) -> None:
            self.devices.backward(loss / batches if batches > 1 else loss)

        found = self.task.step_loss(batch, moment)
        if isinstance(found, Tensor):
            backward(found)
            return found.item()
        return cached_backward(
            found.passes, found.loss, backward=backward, forward=moment.autocast
        ).item()
