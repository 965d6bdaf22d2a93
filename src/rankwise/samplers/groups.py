"""Items by the class or list they belong to."""

from __future__ import annotations

import numpy as np

from rankwise.samplers.inputs import Ints

__all__ = ["Groups", "count_up"]


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
        """All items, group after group, in random order inside each."""
        items = rng.permutation(len(self._group_of_item))
        by_group = np.argsort(self._group_of_item[items], kind="stable")
        result: Ints = items[by_group]
        return result


def count_up(sizes: Ints) -> Ints:
    """0, 1, …, size − 1 for each size, one after the other: ``[2, 3]`` gives 0 1 0 1 2."""
    before = np.cumsum(sizes) - sizes
    result: Ints = np.arange(sizes.sum()) - np.repeat(before, sizes)
    return result
