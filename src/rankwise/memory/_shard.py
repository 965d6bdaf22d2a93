"""Rows of a memory that is split by id over processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class Shard:
    """The rows that one of ``world`` processes keeps: those of the ids with id mod world = rank.

    A call computes with the rows of its own ids, which :meth:`loaded` puts in the place of the
    buffers. Row buffers are those with one row for each of ``num_items`` ids.
    """

    def __init__(self, memory: nn.Module, num_items: int, rank: int, world: int) -> None:
        self.num_items, self.rank, self.world = num_items, rank, world
        self.names = [name for name, b in memory.named_buffers() if b.shape[:1] == (num_items,)]
        self.ids: Tensor | None = None  # ids of the rows that are loaded, ascending
        for name in self.names:
            memory.register_buffer(name, memory.get_buffer(name)[rank::world].clone())

    def places(self, ids: Tensor) -> Tensor:
        """Return where the rows of ``ids`` are among those that are loaded."""
        if self.ids is None:
            raise RuntimeError(
                "the memory is split over processes and has no rows loaded; call the objective "
                "through rankwise.distributed.AcrossProcesses"
            )
        return torch.searchsorted(self.ids, ids)

    def own(self, ids: Tensor) -> Tensor:
        """Return which of the ids this process keeps."""
        return ids % self.world == self.rank

    @contextmanager
    def loaded(self, memory: nn.Module, ids: Tensor, rows: dict[str, Tensor]) -> Iterator[None]:
        """Compute with the rows of ``ids``, ascending; keep those of this process afterwards."""
        kept = {name: memory.get_buffer(name) for name in self.names}
        own = self.own(ids)
        self.ids = ids
        try:
            for name in self.names:
                memory.register_buffer(name, rows[name])
            yield
            for name, buffer in kept.items():
                buffer.index_copy_(0, ids[own] // self.world, memory.get_buffer(name)[own])
        finally:
            self.ids = None
            for name, buffer in kept.items():
                memory.register_buffer(name, buffer)
