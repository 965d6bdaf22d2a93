"""Memories that are split by id over processes, and their rows for one call."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import reduce
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.functional import pad

from rankwise.memory import MovingAverage
from rankwise.memory._shard import Shard
from rankwise.metrics.gather import gather_equal, is_distributed
from rankwise.objectives import FairnessConstraint, Objective, OneVsRest

Sharded = TypeVar("Sharded", Objective, OneVsRest, FairnessConstraint)


def shard_memories(objective: Sharded) -> Sharded:
    """Split the memory of an objective by id: a process keeps the rows with id mod W = its rank.

    A memory by list or item then takes 1/W of the space on each of W processes. Wrapped in
    :class:`AcrossProcesses`, the objective computes the same bits as with a whole memory on every
    process. A call exchanges the rows of the ids of its batch, in one message more, and two more
    where processes have whole lists. What is not kept by id stays whole on every process.

    Save it with :func:`save_sharded`. The buffers differ between processes: leave the objective
    out of ``DistributedDataParallel``, which would overwrite them with those of the first process,
    or pass ``broadcast_buffers=False``.

    Args:
        objective: Objective with a memory for more than one list or item, equal on all processes.

    Returns:
        The objective itself; unchanged without a process group.

    Raises:
        ValueError: If the objective has no such memory, or it is split already.

    Example:
        >>> from rankwise.distributed import AcrossProcesses, shard_memories
        >>> from rankwise.objectives import SOAP
        >>> loss = AcrossProcesses(shard_memories(SOAP(prior=0.01, num_items=1_000)))
        >>> loss.objective.average.value.shape  # one process has all rows
        torch.Size([1000, 2])
    """
    inner: Objective = (
        objective.objective if isinstance(objective, OneVsRest | FairnessConstraint) else objective
    )
    size = inner.memory_size
    memories = [m for m in inner.modules() if isinstance(m, MovingAverage) and m.num_items == size]
    if size == 1 or not memories:
        raise ValueError(
            "objective must have a memory for more than one list or item, got "
            f"{type(inner).__name__}; leave it whole"
        )
    if any(memory.shard is not None for memory in memories):
        raise ValueError("objective must have a whole memory, got one that is split already")
    if is_distributed():
        rank, world = dist.get_rank(), dist.get_world_size()
        for memory in memories:
            memory.shard = Shard(memory, size, rank, world)
    return objective


def sharded_memories(module: nn.Module) -> dict[str, MovingAverage]:
    """Return the memories that are split over processes, by name."""
    found = ((name, m) for name, m in module.named_modules() if isinstance(m, MovingAverage))
    return {name: memory for name, memory in found if memory.shard is not None}


def memory_ids(objective: Objective | OneVsRest, columns: dict[str, Tensor]) -> Tensor:
    """Return the ids by which a call with these arguments uses the memory."""
    if not isinstance(objective, OneVsRest):
        return columns[f"{objective.memory_by}_ids"].flatten()
    classes = torch.arange(columns["scores"].shape[1], device=columns["scores"].device)
    if objective.objective.memory_by == "list":
        return classes
    return ((columns["item_ids"] * len(classes)).unsqueeze(1) + classes).flatten()


@contextmanager
def loaded_rows(objective: nn.Module, ids: Tensor) -> Iterator[None]:
    """Load the rows of ``ids``, the same on all processes, into the memories for one call."""
    memories = list(sharded_memories(objective).values())
    ids = torch.unique(ids)
    rows = iter(_rows_of_all(memories, ids))
    with ExitStack() as stack:
        for memory in memories:
            assert memory.shard is not None
            of_memory = {name: next(rows) for name in memory.shard.names}
            stack.enter_context(memory.shard.loaded(memory, ids, of_memory))
        yield


def _rows_of_all(memories: list[MovingAverage], ids: Tensor) -> list[Tensor]:
    """Return the rows of ``ids`` of every buffer; each process sends those that it keeps."""
    world = dist.get_world_size()
    buffers = [m.get_buffer(name) for m in memories if m.shard for name in m.shard.names]
    counts = torch.bincount(ids % world, minlength=world).tolist()
    own = ids[ids % world == dist.get_rank()] // world
    # One dtype that holds all of them exactly.
    dtype = reduce(torch.promote_types, (buffer.dtype for buffer in buffers))
    widths = [math.prod(buffer.shape[1:]) for buffer in buffers]
    columns = zip(buffers, widths, strict=True)
    sent = torch.cat([b[own].reshape(len(own), width).to(dtype) for b, width in columns], 1)
    parts = gather_equal(pad(sent, (0, 0, 0, max(1, *counts) - len(own))))
    joined = sent.new_empty(len(ids), sent.shape[1])
    for rank, (part, count) in enumerate(zip(parts, counts, strict=True)):
        joined[ids % world == rank] = part[:count]
    split = joined.split(widths, 1)
    return [
        rows.reshape(len(ids), *buffer.shape[1:]).to(buffer.dtype).clone()
        for rows, buffer in zip(split, buffers, strict=True)
    ]
