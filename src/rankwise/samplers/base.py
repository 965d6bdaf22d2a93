"""The base of all samplers: epochs that follow from the seed, sharded and resumable."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping

import numpy as np
import torch.distributed as dist
from torch.utils.data import Sampler

from rankwise.checks import require_count
from rankwise.samplers._items import Ints


class EpochBatches(Sampler[list[int]], ABC):
    """Base class of batch samplers whose epochs are planned as a whole.

    The batches of an epoch are a function of the seed and the epoch's number alone. Of these,
    process ``rank`` takes every ``world_size``-th. All processes give the same number of batches,
    or those with more would wait for the others forever: where the number does not divide, the
    first batches of the epoch are given again at its end.

    A completed epoch is followed by the next. An epoch that was left with ``break`` begins again in
    the next ``for`` (where it was resumed, if it was), so that looking at a batch changes nothing;
    :meth:`set_epoch` moves to another epoch.

    Args:
        batches: Number of batches in an epoch, for all processes together.
        seed: Seed of the batches of all epochs.
        rank: Number of this process, from ``torch.distributed`` if it is running, else 0.
        world_size: Number of processes that share an epoch, from ``torch.distributed`` or 1.

    Example:
        >>> import numpy as np
        >>> from rankwise.samplers import EpochBatches
        >>> class InOrder(EpochBatches):
        ...     rate = 1.0
        ...
        ...     def plan(self, rng):
        ...         return list(np.arange(6).reshape(3, 2))
        >>> sampler = InOrder(3)
        >>> list(sampler)
        [[0, 1], [2, 3], [4, 5]]
        >>> sampler.load_state_dict({"epoch": 1, "given": 2})
        >>> list(sampler)  # what was left of epoch 1
        [[4, 5]]
    """

    def __init__(
        self,
        batches: int,
        seed: int = 0,
        rank: int | None = None,
        world_size: int | None = None,
    ) -> None:
        super().__init__()
        require_count("seed", seed, minimum=0)
        self.seed = seed
        self.rank, self.world_size = _place_among_processes(rank, world_size)
        self._batches = batches
        self.epoch = 0
        self._begin = 0  # batches of this epoch that an iteration passes over: resumed after them
        self._given = 0  # batches of this epoch that were handed out

    @abstractmethod
    def plan(self, rng: np.random.Generator) -> list[Ints]:
        """Return the batches of one epoch, for all processes together."""

    @property
    @abstractmethod
    def rate(self) -> float:
        """The share of what the sampler is named for, described by each sampler."""

    def __len__(self) -> int:
        """Return the batches of an epoch for one process, the same number for every process."""
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
        """Go to the start of an epoch; the epoch that is being resumed is not started over."""
        require_count("epoch", epoch, minimum=0)
        if epoch != self.epoch:
            self._go_to(epoch, 0)

    def state_dict(self) -> dict[str, int]:
        """Return the epoch and the number of its batches that this process has been given.

        A ``DataLoader`` with workers asks for batches ahead of the training: save the epoch and the
        number of batches trained on instead, ``{"epoch": epoch, "given": trained}``.
        """
        return {"epoch": self.epoch, "given": self._given}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Resume: the next iteration gives exactly the batches that were left."""
        if set(state) != {"epoch", "given"}:
            raise ValueError(f"state must have the keys 'epoch' and 'given', got {sorted(state)}")
        require_count("state['epoch']", state["epoch"], minimum=0)
        require_count("state['given']", state["given"], minimum=0)
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
    require_count("rank", rank, minimum=0)
    require_count("world_size", world_size)
    if rank >= world_size:
        raise ValueError(f"rank must be below world_size={world_size}, got rank={rank}")
    return rank, world_size
