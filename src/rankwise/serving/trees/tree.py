"""A set of trees as arrays, whichever library grew it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes from the root, 0, on; a child below 0 is the leaf ``~child``.

    A row goes left where its value is at most the threshold. A node in ``members`` splits
    categories instead: the members go left, all others right.
    """

    feature: Integers
    threshold: Floats
    left: Integers
    right: Integers
    missing_left: NDArray[np.bool_]  # where a missing value goes
    leaves: Floats
    members: dict[int, Integers] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class TreeSet:
    """Trees whose leaves are summed, one tree after the other."""

    trees: tuple[Tree, ...]
    columns: int
    dtype: type[np.floating]  # of the values of the rows, and of the sum

    def categorical(self) -> set[int]:
        """Return the columns that are split by categories.

        Raises:
            ValueError: A column is split in both ways.
        """
        by_category, by_number = set[int](), set[int]()
        for tree in self.trees:
            for node, feature in enumerate(tree.feature.tolist()):
                (by_category if node in tree.members else by_number).add(feature)
        if both := by_category & by_number:
            raise ValueError(f"column {min(both)} is split as a number and as categories")
        return by_category
