"""Device, precision and processes of a run, by Lightning Fabric."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

import torch
from torch import Tensor, nn

from rankwise.errors import UsageError
from rankwise.extras import require
from rankwise.training.row_adam import mean_of_rows

if TYPE_CHECKING:
    from lightning_fabric import Fabric
    from lightning_fabric.plugins import Precision

Value = TypeVar("Value")

PRECISIONS = ("float32", "bfloat16", "float16", "32", "bf16", "16")
"""Names of the precisions of a training run, the short forms of Lightning Fabric included."""
_FABRIC = dict(zip(PRECISIONS, ("32-true", "bf16-mixed", "16-mixed") * 2, strict=True))


@dataclass(frozen=True)
class Place:
    """Device of a process, and which of the processes it is.

    Args:
        device: Device of the process.
        rank: Number of the process, from 0.
        world_size: Number of processes.

    Example:
        >>> from rankwise.training import Place
        >>> Place(rank=1, world_size=2).is_first
        False
    """

    device: torch.device = torch.device("cpu")  # noqa: RUF009  (immutable)
    rank: int = 0
    world_size: int = 1

    @property
    def is_first(self) -> bool:
        """Whether this process writes the files for all of them."""
        return self.rank == 0


def world_size() -> int:
    """Count the processes that torchrun or Ray started.

    Returns:
        Number of processes; 1 without torchrun and Ray.

    Example:
        >>> from rankwise.training import world_size
        >>> world_size()
        1
    """
    return int(os.environ.get("WORLD_SIZE", "1")) if "RANK" in os.environ else 1


def require_one_process(what: str) -> None:
    """Raise where a training that cannot be shared was started in several processes.

    Args:
        what: What is trained in one process, such as ``"rankwise rank --model linear"``.

    Raises:
        UsageError: Where there are several processes.

    Example:
        >>> from rankwise.training import require_one_process
        >>> require_one_process("rankwise rank --model linear")
    """
    if (processes := world_size()) > 1:
        raise UsageError(
            f"{what} trains in one process, got {processes}; start it without torchrun and Ray"
        )


class Devices:
    """Hardware of a step: autocast, backward pass, gradients averaged over the processes.

    Processes are those that torchrun or Ray started, else there is one. Gradients are averaged
    here, once for each step, rather than by DistributedDataParallel: it would average in the
    backward pass of one forward call, while gradient caching has several of them and some tasks
    none.

    Args:
        precision: One of :data:`PRECISIONS`. Parameters stay in float32; the gradients of float16
            are scaled, and on a processor it is bfloat16.
        device: Device of this process; under torchrun every process takes a GPU of its own where
            the device is ``cuda``.

    Raises:
        UsageError: If the precision is unknown.

    Example:
        >>> from rankwise.training import Devices
        >>> Devices("32").place.world_size
        1
    """

    def __init__(self, precision: str = "32", device: torch.device | None = None) -> None:
        if precision not in PRECISIONS:
            raise UsageError(f"precision must be one of {', '.join(PRECISIONS)}, got {precision!r}")
        self.fabric = _fabric(_FABRIC[precision], device)
        self.fabric.launch()
        self.place = Place(self.fabric.device, self.fabric.global_rank, self.fabric.world_size)

    def autocast(self) -> AbstractContextManager[object]:
        """Return the context of a forward pass."""
        return self.fabric.autocast()

    def backward(self, loss: Tensor) -> None:
        """Add the gradients of a loss, times the factor that half precision needs."""
        self.fabric.backward(loss)

    def step(self, optimizer: torch.optim.Optimizer, clip: float | None = None) -> None:
        """Average the gradients over the processes, clip their norm, and move the parameters."""
        self._average([p for group in optimizer.param_groups for p in group["params"]])
        if clip is not None:
            self.fabric.clip_gradients(
                nn.Module(), optimizer, max_norm=clip, error_if_nonfinite=False
            )
        self.fabric.strategy.optimizer_step(optimizer)

    def broadcast(self, value: Value) -> Value:
        """Return the value of the first process, on all of them."""
        return value if self.place.world_size == 1 else self.fabric.broadcast(value)

    def on_first(self, function: Callable[[], Value]) -> Value:
        """Call a function in the first process; its result, or its error, is that of all."""
        found: tuple[Value | None, UsageError | None] = (None, None)
        if self.place.is_first:
            try:
                found = function(), None
            except UsageError as error:
                found = None, error
        value, problem = self.broadcast(found)
        if problem is not None:
            raise problem
        return cast("Value", value)

    def share_state(self, module: nn.Module, *, buffers_only: bool = False) -> None:
        """Give every process the parameters and buffers of the first, or the buffers alone."""
        if self.place.world_size == 1:
            return
        own = dict(module.named_buffers()) if buffers_only else module.state_dict()
        for name, value in self.fabric.broadcast({n: t.cpu() for n, t in own.items()}).items():
            own[name].copy_(value)

    @property
    def scaler(self) -> Precision:
        """The precision with its gradient scaler, whose state is empty where it has none."""
        return self.fabric.strategy.precision

    def _average(self, parameters: Iterable[nn.Parameter]) -> None:
        if self.place.world_size == 1:
            return
        known = list(parameters)
        world = self.place.world_size
        # 1 for a gradient; more than all processes can have together for one of rows.
        kinds = [0 if p.grad is None else world + 1 if p.grad.is_sparse else 1 for p in known]
        own = torch.tensor(kinds, dtype=torch.float32, device=self.place.device)
        anywhere = self.fabric.all_reduce(own, reduce_op="sum").tolist()  # type: ignore[union-attr]
        for parameter, count in zip(known, anywhere, strict=True):
            if count > world:
                gradient = parameter.grad
                if gradient is None:  # no row was touched here
                    gradient = torch.zeros_like(parameter, layout=torch.sparse_coo)
                parameter.grad = mean_of_rows(gradient, world)
        used = [p for p, count in zip(known, anywhere, strict=True) if 0 < count <= world]
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in used]
        for dtype in dict.fromkeys(g.dtype for g in gradients):  # in the same order everywhere
            chosen = [(p, g) for p, g in zip(used, gradients, strict=True) if g.dtype == dtype]
            flat = torch.cat([g.flatten() for _, g in chosen])
            mean = self.fabric.all_reduce(flat, reduce_op="mean")
            assert isinstance(mean, Tensor)
            pieces = mean.split([g.numel() for _, g in chosen])
            for (parameter, gradient), piece in zip(chosen, pieces, strict=True):
                parameter.grad = piece.view_as(gradient).clone()


def _fabric(precision: str, device: torch.device | None) -> Fabric:
    require("rankwise.training", "lightning_fabric")
    from lightning_fabric import Fabric  # noqa: PLC0415  (an extra, and seconds to import)
    from lightning_fabric.plugins.environments.torchelastic import (  # noqa: PLC0415
        TorchElasticEnvironment,
    )

    class Environment(TorchElasticEnvironment):
        """Processes by the variables of torchrun; nodes may have different numbers of them."""

        def validate_settings(self, num_devices: int, num_nodes: int) -> None:
            pass

    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)
    device = torch.device("cpu") if device is None else device
    one_of_several = device.type != "cpu" and device.index is not None
    wanted: int | list[int] = [device.index] if one_of_several else 1
    world = world_size()
    if world > 1:
        wanted = int(os.environ.get("LOCAL_WORLD_SIZE", str(world)))
    return Fabric(
        accelerator=device.type,
        devices=wanted,
        num_nodes=max(1, world // wanted) if isinstance(wanted, int) else 1,
        strategy="ddp" if world > 1 else "auto",
        plugins=[Environment()] if world > 1 else None,
        precision=precision,  # type: ignore[arg-type]
    )
