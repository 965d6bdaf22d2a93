"""A fit that several processes share: each has a part of every batch, and all end alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar, cast

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import nn

from rankwise.estimators.data import Floats, Matrix
from rankwise.metrics.gather import gather_rows, is_distributed

Value = TypeVar("Value")

_shared: ContextVar[bool] = ContextVar("shared_fit", default=False)


@contextmanager
def shared_fit() -> Iterator[None]:
    """Share the fit of neural rankers inside among the processes of torch's process group.

    Every process calls ``fit`` with the same rows and the same ``random_state``. A batch is then
    ``batch_size`` rows of every process, and the loss that of all of them: the model is the one
    of a single process whose ``batch_size`` is that of all together. The first process writes and
    reads the checkpoint. Without a process group nothing changes.
    """
    token = _shared.set(True)
    try:
        yield
    finally:
        _shared.reset(token)


def world_size() -> int:
    """Return the number of processes that share a fit."""
    return dist.get_world_size() if _shared.get() and is_distributed() else 1


def own_rows(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the part of a batch that belongs to this process."""
    if world_size() == 1:
        return rows
    parts: list[NDArray[np.int64]] = np.array_split(rows, world_size())
    return parts[dist.get_rank()]


def average_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Replace gradients by their mean over the processes."""
    if (world := world_size()) == 1:
        return
    gradients = [p.grad for p in parameters if p.grad is not None]
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    dist.all_reduce(flat)
    for gradient, mean in zip(
        gradients, (flat / world).split([g.numel() for g in gradients]), strict=True
    ):
        gradient.copy_(mean.view_as(gradient))


def joined_scores(scores_of: Callable[[Matrix], Floats], X: Matrix) -> Floats:
    """Return the scores of all rows, each computed by one of the processes."""
    if world_size() == 1:
        return scores_of(X)
    found = scores_of(X[own_rows(np.arange(X.shape[0]))])
    joined: Floats = gather_rows(torch.from_numpy(found)).numpy()
    return joined


def from_first(function: Callable[[], Value]) -> Value:
    """Call a function in the first process; its result, or its ValueError, is that of all."""
    if world_size() == 1:
        return function()
    found: list[object] = [None, None]
    if dist.get_rank() == 0:
        try:
            found[0] = function()
        except ValueError as error:
            found[1] = error
    dist.broadcast_object_list(found)
    value, problem = found
    if isinstance(problem, ValueError):
        raise problem
    return cast("Value", value)
