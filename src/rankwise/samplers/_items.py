"""The items of a data set: checked arrays, items by group, and their assignment to batches."""

from __future__ import annotations

import math

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


def even_draws(items: int, per_draw: int, draws: int, rng: np.random.Generator) -> Ints:
    """Draw ``per_draw`` different items of ``items``, ``draws`` times, each item equally often.

    The counts of two items differ by at most one. The items are drawn in a new order every time
    they are used up. A draw that begins in one pass ends in the next, which therefore has to begin
    with items that the draw does not hold yet.
    """
    if 2 * per_draw > items:  # drawing the items to leave out is the same problem, with more choice
        left_out = even_draws(items, items - per_draw, draws, rng)
        kept = np.ones((draws, items), dtype=bool)
        np.put_along_axis(kept, left_out, False, axis=1)
        return np.nonzero(kept)[1].reshape(draws, per_draw)
    passes = math.ceil(draws * per_draw / items)
    order = rng.permuted(np.tile(np.arange(items), (passes, 1)), axis=1)
    # Only the first per_draw of a pass are rearranged and at most per_draw end it, so the passes do
    # not depend on each other and are computed together.
    begun = (np.arange(1, passes) * items) % max(per_draw, 1)
    held = np.zeros((len(begun), items), dtype=bool)
    ends = np.arange(items) >= items - begun[:, None]
    np.put_along_axis(held, order[:-1], ends, axis=1)
    missing = np.where(begun > 0, per_draw - begun, 0)
    order[1:] = _start_with_others(order[1:], held, missing)
    return order.reshape(-1)[: draws * per_draw].reshape(draws, per_draw)


def assign_to_batches(counts: Ints, batches: int, rng: np.random.Generator) -> Ints:
    """Assign the chunks of several classes to batches, no class twice to one.

    Class ``c`` has ``counts[c] <= batches`` chunks, numbered on from those of the class before. The
    counts add up to a multiple of ``batches``. The result has shape (batches, chunks of a batch).
    """
    # Chunks lie in layers of one for each batch. A class is a run of chunks, and a run inside a
    # layer meets every batch once; only the class over the edge of two layers needs care.
    layers = np.repeat(np.arange(len(counts)), counts).reshape(-1, batches)
    assigned = np.empty(layers.shape[::-1], dtype=np.int64)
    held = np.zeros((1, batches), dtype=bool)
    last_class = -1
    for layer, classes in enumerate(layers):
        order = rng.permutation(batches)[None]
        missing = np.array([np.count_nonzero(classes == last_class)])
        order = _start_with_others(order, held, missing)
        assigned[order[0], layer] = np.arange(layer * batches, (layer + 1) * batches)
        last_class = classes[-1]
        held = np.zeros_like(held)
        held[0, order[0, classes == last_class]] = True
    return assigned


def _start_with_others(order: Ints, held: NDArray[np.bool_], missing: Ints) -> Ints:
    """Move the first ``missing`` items of each row that are not ``held`` to its front."""
    free = ~np.take_along_axis(held, order, axis=1)
    front = free & (np.cumsum(free, axis=1) <= missing[:, None])
    return np.asarray(np.take_along_axis(order, np.argsort(~front, axis=1, kind="stable"), axis=1))
