"""One step of training, for any loop around it: gradient caching, average of the weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

from rankwise.training.batch_norm import join_batch_norms
from rankwise.training.devices import Devices
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
        own = task.seed is not None  # else the draws of this step lead on to those of the next
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


class WeightAverage:
    """Moving average of the weights, which is what validation sees and a run keeps.

    average ← (1 − ema_rate)·average + ema_rate·weights, after every step.

    Floating-point buffers are averaged like parameters, others are copied.
    """

    def __init__(self, network: nn.Module, ema_rate: float) -> None:
        if not 0 < ema_rate <= 1:
            raise ValueError(f"ema_rate must be in (0, 1], got {ema_rate!r}")
        self.network, self.ema_rate = network, ema_rate
        self.values = {name: t.detach().clone() for name, t in network.state_dict().items()}

    @torch.no_grad()
    def update(self) -> None:
        """Move the average toward the weights as they are."""
        for name, value in self.network.state_dict().items():
            if value.is_floating_point():
                self.values[name].lerp_(value, self.ema_rate)
            else:
                self.values[name].copy_(value)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Give the network the average as its weights while the context lasts."""
        own = {name: t.detach().clone() for name, t in self.network.state_dict().items()}
        self.network.load_state_dict(self.values)
        try:
            yield
        finally:
            self.network.load_state_dict(own)

    def state_dict(self) -> dict[str, Tensor]:
        """Return the average, by name."""
        return dict(self.values)

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        """Restore what :meth:`state_dict` returned."""
        for name, value in state.items():
            self.values[name].copy_(value)


def cached_backward(
    parts: Sequence[Callable[[], Tensor]],
    loss: Callable[[Tensor], Tensor],
    *,
    backward: Callable[[Tensor], None] = Tensor.backward,
    forward: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> Tensor:
    """Compute the gradients of ``loss(torch.cat([part() for part in parts]))`` part by part.

    A first pass without a graph gives all embeddings e, the loss its gradient ∂L/∂e with a graph of
    the loss alone, and a second pass over every part the rest by the chain rule,
    ∂L/∂θ = Σ_parts ∂L/∂e_part · ∂e_part/∂θ. The memory is that of one part, the cost one more
    forward pass. It is exact where a part gives the same in both passes: it may neither depend on
    the other parts (batch norm) nor draw random numbers of its own (dropout). One part alone is
    run once.

    Args:
        parts: Forward passes, each returning the embeddings of some rows.
        loss: The loss of all embeddings.
        backward: The backward pass of the loss, which may scale it (half precision).
        forward: Context of the forward passes, such as autocast.

    Returns:
        The loss, without a graph.

    Example:
        >>> import torch
        >>> from rankwise.training import cached_backward
        >>> layer = torch.nn.Linear(2, 1, bias=False)
        >>> rows = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        >>> parts = [lambda: layer(rows[:2]), lambda: layer(rows[2:])]
        >>> value = cached_backward(parts, lambda scores: scores.sum())
        >>> layer.weight.grad  # of one pass over all rows
        tensor([[2., 2.]])

    Reference:
        Gao et al. 2021, "Scaling deep contrastive learning batch size under memory limited setup".
    """
    alone = len(parts) == 1  # then the first pass keeps its graph
    with torch.set_grad_enabled(alone), forward():
        embeddings = [part() for part in parts]
    leaf = torch.cat(embeddings).detach().requires_grad_()
    value = loss(leaf)
    backward(value)  # the parameters of the loss itself get their gradients as well
    assert leaf.grad is not None  # every loss has a graph, also one with nothing to rank
    pieces, value = leaf.grad.split([len(part) for part in embeddings]), value.detach()
    first = embeddings[0]
    del embeddings, leaf  # the passes that follow need the memory
    for part, piece in zip(parts, pieces, strict=True):
        with forward():
            output = first if alone else part()
        output.backward(piece)
    return value
