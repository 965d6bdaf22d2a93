"""What all samplers share: epochs that follow from the seed, shards of them, and resuming.

The batches of an epoch are a function of the seed and the epoch's number alone. Of these, process
``rank`` takes every ``world_size``-th. All processes give the same number of batches, or the ones
with more would wait for the others for ever: where the number does not divide, the first batches of
the epoch are given again at its end.

An epoch that was gone through to its end is followed by the next. One that was left with ``break``
is begun again by the next ``for`` (where it was resumed, if it was), so that looking at a batch
changes nothing; :meth:`~EpochBatches.set_epoch` goes elsewhere.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping

import numpy as np
import torch.distributed as dist
from torch.utils.data import Sampler

from rankwise.checks import require_count
from rankwise.samplers.inputs import Ints, require_whole

__all__ = ["EpochBatches"]


class EpochBatches(Sampler[list[int]], ABC):
    """A batch sampler whose epochs are planned as a whole.

    Args:
        batches: how many batches the plan of every epoch has.
        seed: another seed gives other batches.
        rank: number of this process, from ``torch.distributed`` if it is running, else 0.
        world_size: how many processes share an epoch, from ``torch.distributed`` or 1.
    """

    def __init__(self, batches: int, seed: int, rank: int | None, world_size: int | None) -> None:
        super().__init__()
        require_whole("seed", seed)
        self.seed = seed
        self.rank, self.world_size = _place_among_processes(rank, world_size)
        self._batches = batches
        self.epoch = 0
        self._begin = 0  # batches of this epoch that an iteration passes over: resumed after them
        self._given = 0  # batches of this epoch that were handed out

    @abstractmethod
    def plan(self, rng: np.random.Generator) -> list[Ints]:
        """The batches of one epoch, for all processes together."""

    @property
    @abstractmethod
    def rate(self) -> float:
        """The rate at which this sampler samples."""

    def __len__(self) -> int:
        """How many batches this process gives in an epoch, the same for every process."""
        return math.ceil(self._batches / self.world_size)

    def __iter__(self) -> Iterator[list[int]]:
        epoch = self.epoch
        plan = self.plan(np.random.default_rng((self.seed, epoch)))
        for turn in range(self._begin, len(self)):
            self._given = turn + 1
            batch = plan[(turn * self.world_size + self.rank) % len(plan)]
            yield batch.tolist()
        self._go_to(epoch + 1, 0)

    def set_epoch(self, epoch: int) -> None:
        """Go to the start of an epoch; naming the epoch that is being resumed changes nothing."""
        require_whole("epoch", epoch)
        if epoch != self.epoch:
            self._go_to(epoch, 0)

    def state_dict(self) -> dict[str, int]:
        """The epoch, and how many of its batches this process has been given.

        A ``DataLoader`` with workers asks for batches ahead of the training: save the epoch and the
        number of batches trained on instead, ``{"epoch": epoch, "given": trained}``.
        """
        return {"epoch": self.epoch, "given": self._given}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Let the next iteration give exactly the batches that were still to come."""
        if set(state) != {"epoch", "given"}:
            raise ValueError(f"state must have the keys 'epoch' and 'given', got {sorted(state)}")
        require_whole("state['epoch']", state["epoch"])
        require_whole("state['given']", state["given"])
        if state["given"] > len(self):
            raise ValueError(
                f"state['given'] must be at most the {len(self)} batches of an epoch, got "
                f"{state['given']}; load the state of a sampler made with the same arguments"
            )
        self._go_to(state["epoch"], state["given"])

    def _go_to(self, epoch: int, given: int) -> None:
        self.epoch = int(epoch)  # a numpy integer would not be saved as plain data
        self._given = self._begin = int(given)


def _place_among_processes(rank: int | None, world_size: int | None) -> tuple[int, int]:
    if rank is None and world_size is None:
        running = dist.is_available() and dist.is_initialized()
        return (dist.get_rank(), dist.get_world_size()) if running else (0, 1)
    if rank is None or world_size is None:
        raise ValueError(
            f"rank and world_size go together, got rank={rank!r} and world_size={world_size!r}; "
            "give both, or neither to take those of torch.distributed"
        )
    require_whole("rank", rank)
    require_count("world_size", world_size)
    if rank >= world_size:
        raise ValueError(f"rank must be below world_size={world_size}, got rank={rank}")
    return rank, world_size
