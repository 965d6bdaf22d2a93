"""P×K batches: P classes with K items each."""

from __future__ import annotations

import math
from bisect import bisect_right

import numpy as np
import torch
from torch import Tensor

from rankwise.checks import require_count
from rankwise.samplers._items import Groups, Ints, assign_to_batches, count_up, read_ids
from rankwise.samplers.base import EpochBatches


class ClassBatches(EpochBatches):
    """Batches of ``classes`` different classes with ``per_class`` items each (P×K), class by class.

    The items of a class are shuffled and cut into chunks of ``per_class``. The last chunk of a
    class is filled up with its first items, so that no chunk holds an item twice unless its class
    has fewer than ``per_class``. The number of batches of an epoch is what it takes to give every
    chunk once, and an epoch reaches every class. A class with more chunks than the epoch has
    batches leaves some for another epoch, a new choice each time; other classes start over to fill
    the places.

    Args:
        labels: Class id >= 0 of every item of the data set.
        classes: Different classes in a batch, at most the number in ``labels``.
        per_class: Items of each class in a batch.
        seed, rank, world_size: See :class:`~rankwise.samplers.EpochBatches`.

    Example:
        >>> from rankwise.samplers import ClassBatches
        >>> sampler = ClassBatches([0, 0, 1, 1, 2, 2, 3, 3], classes=2, per_class=2)
        >>> [len(batch) for batch in sampler]
        [4, 4]
        >>> sorted(item for batch in sampler for item in batch)  # every item once
        [0, 1, 2, 3, 4, 5, 6, 7]
    """

    def __init__(
        self,
        labels: object,
        classes: int,
        per_class: int,
        *,
        seed: int = 0,
        rank: int | None = None,
        world_size: int | None = None,
    ) -> None:
        require_count("classes", classes)
        require_count("per_class", per_class)
        if classes * per_class == 1:
            raise ValueError("classes * per_class must be at least 2, got a batch of one item")
        self._groups = Groups(read_ids("labels", labels))
        if self._groups.ids[0] < 0:
            raise ValueError(
                f"labels must be class ids >= 0, got {self._groups.ids[0]}; "
                "leave out items without a class"
            )
        if classes > len(self._groups):
            raise ValueError(
                f"classes must be at most the {len(self._groups)} classes in labels, got {classes}"
            )
        self.classes, self.per_class = classes, per_class
        chunks = -(-self._groups.sizes // per_class)
        batches = math.ceil(chunks.sum() / classes)
        self._chunks = np.minimum(chunks, batches)
        super().__init__(batches, seed, rank, world_size)

    @property
    def rate(self) -> float:
        """The share of an item's own class among the other items of its batch."""
        return (self.per_class - 1) / (self.classes * self.per_class - 1)

    @property
    def prior(self) -> Tensor:
        """The share of each class in the data set, by class id (0 for ids that do not occur).

        ``sampler.prior[labels]`` is the ``prior=`` of a batch with one list per query.
        """
        ids, sizes = torch.from_numpy(self._groups.ids), torch.from_numpy(self._groups.sizes)
        prior = torch.zeros(int(ids[-1]) + 1)
        prior[ids] = sizes / sizes.sum()
        return prior

    def plan(self, rng: np.random.Generator) -> list[Ints]:
        order = rng.permutation(len(self._groups))
        chunks = self._filled(rng)[order]
        group = np.repeat(order, chunks)
        place = count_up(chunks)[:, None] * self.per_class + np.arange(self.per_class)
        place %= self._groups.sizes[group, None]  # a class that is used up starts over
        items = self._groups.shuffled(rng)[self._groups.starts[group, None] + place]
        assigned = assign_to_batches(chunks, self._batches, rng)
        return list(items[assigned].reshape(self._batches, -1))

    def _filled(self, rng: np.random.Generator) -> Ints:
        """Return the chunks of each class with those that fill the last places, spread evenly."""
        room = self._batches - self._chunks
        places = self._batches * self.classes - int(self._chunks.sum())
        level = bisect_right(
            range(self._batches + 1), places, key=lambda each: int(np.minimum(room, each).sum())
        )
        extra = np.minimum(room, level - 1)
        lucky = rng.permutation(np.flatnonzero(room > extra))[: places - extra.sum()]
        extra[lucky] += 1
        return np.asarray(self._chunks + extra)
