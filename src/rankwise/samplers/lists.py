"""Batches of whole lists, or of a sample of each list."""

from __future__ import annotations

import numpy as np

from rankwise.checks import require_count
from rankwise.samplers._items import Groups, Ints, count_up, read_ids
from rankwise.samplers.base import EpochBatches


class ListBatches(EpochBatches):
    """Batches of ``lists`` different lists and up to ``items`` items of each, list by list.

    No list comes twice in an epoch. The ``n % lists`` lists that would make a short batch are left
    out, others in every epoch. Of a list with more than ``items``, each epoch has a new random
    choice.

    Args:
        groups: List id of every item of the data set, any integers.
        lists: Lists in a batch, at most the number in ``groups``.
        items: Maximum number of items of a list in a batch; None takes all of them.
        seed, rank, world_size: See :class:`~rankwise.samplers.EpochBatches`.

    Example:
        >>> from rankwise.samplers import ListBatches
        >>> sampler = ListBatches([7, 7, 7, 8, 8, 9], lists=1)
        >>> sorted(sorted(batch) for batch in sampler)  # every list once
        [[0, 1, 2], [3, 4], [5]]
    """

    def __init__(
        self,
        groups: object,
        lists: int,
        items: int | None = None,
        *,
        seed: int = 0,
        rank: int | None = None,
        world_size: int | None = None,
    ) -> None:
        require_count("lists", lists)
        if items is not None:
            require_count("items", items)
        self._groups = Groups(read_ids("groups", groups))
        if lists > len(self._groups):
            raise ValueError(
                f"lists must be at most the {len(self._groups)} lists in groups, got {lists}"
            )
        self.lists, self.items = lists, items
        sizes = self._groups.sizes
        self._taken = sizes if items is None else np.minimum(sizes, items)
        super().__init__(len(self._groups) // lists, seed, rank, world_size)

    @property
    def rate(self) -> float:
        """The share of all items that an epoch over all lists samples: 1 for whole lists."""
        return float(self._taken.sum() / self._groups.sizes.sum())

    def plan(self, rng: np.random.Generator) -> list[Ints]:
        chosen = rng.permutation(len(self._groups))[: self._batches * self.lists]
        taken = self._taken[chosen]
        place = np.repeat(self._groups.starts[chosen], taken) + count_up(taken)
        ends = np.cumsum(taken)[self.lists - 1 :: self.lists]
        return np.split(self._groups.shuffled(rng)[place], ends[:-1])
