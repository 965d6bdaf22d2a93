"""The items of a data set: checked arrays with one number per item, and items by group."""

from __future__ import annotations

from numbers import Integral

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.checks import require_binary
from rankwise.metrics.inputs import to_tensor

Ints = NDArray[np.int64]


def read_target(target: object) -> NDArray[np.bool_]:
    """Return one class per item, True for the positives."""
    vector = _read_vector("target", target)
    require_binary("target", vector)
    positive: NDArray[np.bool_] = vector.bool().cpu().numpy()
    return positive


def read_ids(name: str, value: object) -> Ints:
    """Return one integer id per item."""
    vector = _read_vector(name, value)
    if vector.is_floating_point() or vector.is_complex() or vector.dtype == torch.bool:
        raise ValueError(f"{name} must be integer ids, one per item, got {vector.dtype}")
    ids: Ints = vector.long().cpu().numpy()
    return ids


def require_whole(name: str, value: object) -> None:
    """Raise unless a seed, epoch or rank is a whole number from zero on."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
        raise ValueError(f"{name} must be a whole number >= 0, got {value!r}")


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
        result: Ints = items[by_group]
        return result


def count_up(sizes: Ints) -> Ints:
    """Return 0, 1, …, size − 1 for each size, concatenated: ``[2, 3]`` gives 0 1 0 1 2."""
    before = np.cumsum(sizes) - sizes
    result: Ints = np.arange(sizes.sum()) - np.repeat(before, sizes)
    return result
