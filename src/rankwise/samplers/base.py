"""What samplers share: epochs that follow from the seed, sharded and resumable, and draws."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Sampler

from rankwise.checks import require_binary, require_count
from rankwise.metrics.inputs import to_tensor


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


Ints = NDArray[np.int64]


def read_target(target: object) -> NDArray[np.bool_]:
    """Return one class per item, True for the positives."""
    vector = _read_vector("target", target)
    require_binary("target", vector)
    return np.asarray(vector.bool().cpu())


def read_ids(name: str, value: object) -> Ints:
    """Return one integer id per item."""
    vector = _read_vector(name, value)
    if vector.is_floating_point() or vector.is_complex() or vector.dtype == torch.bool:
        raise ValueError(f"{name} must be integer ids, one per item, got {vector.dtype}")
    return np.asarray(vector.long().cpu())


def _read_vector(name: str, value: object) -> Tensor:
    try:
        vector = to_tensor(value)
    except (TypeError, ValueError) as error:  # strings, or rows of different length
        raise ValueError(f"{name} must be a list of numbers, one per item: {error}") from error
    if vector.ndim != 1 or len(vector) == 0:
        raise ValueError(
            f"{name} must be one-dimensional with one value per item of the data set, "
            f"got shape {tuple(vector.shape)}"
        )
    return vector


class Groups:
    """Items sorted by group: group ``g`` holds ``sizes[g]`` of them, from ``starts[g]`` on.

    Groups are numbered by ascending id, so any integers may be ids.
    """

    def __init__(self, ids: Ints) -> None:
        self.ids, group_of_item, self.sizes = np.unique(
            ids, return_inverse=True, return_counts=True
        )
        self.starts = np.cumsum(self.sizes) - self.sizes
        # The narrowest type that holds the numbers: numpy sorts up to 16 bits in linear time.
        narrow = np.min_scalar_type(len(self.sizes) - 1)
        self._group_of_item = group_of_item.astype(narrow)

    def __len__(self) -> int:
        return len(self.sizes)

    def shuffled(self, rng: np.random.Generator) -> Ints:
        """Return all items, group after group, in random order within each."""
        items = rng.permutation(len(self._group_of_item))
        by_group = np.argsort(self._group_of_item[items], kind="stable")
        return np.asarray(items[by_group])


def count_up(sizes: Ints) -> Ints:
    """Return 0, 1, …, size − 1 for each size, concatenated: ``[2, 3]`` gives 0 1 0 1 2."""
    before = np.cumsum(sizes) - sizes
    return np.asarray(np.arange(sizes.sum()) - np.repeat(before, sizes))
