"""The samplers: batches with positives in them, of classes, and of lists."""

from __future__ import annotations

import math
from bisect import bisect_right

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.checks import require_count
from rankwise.samplers.base import EpochBatches, Groups, Ints, count_up, read_ids, read_target


class BalancedBatches(EpochBatches):
    """Batches of exactly ``positives`` positives, then ``negatives`` negatives, all different.

    An epoch passes over the negatives once; its last batch is filled up with the first ones.
    Positives are repeated in a new order as often as needed; their counts differ by at most one.

    Args:
        target: 0 or 1 for every item of the data set.
        positives: Positives in a batch, at most the number in ``target``.
        negatives: Negatives in a batch, at most the number in ``target``.
        seed, rank, world_size: See :class:`~rankwise.samplers.EpochBatches`.

    Example:
        >>> from rankwise.samplers import BalancedBatches
        >>> target = [1, 0, 0, 1, 0, 0, 0, 0]
        >>> sampler = BalancedBatches(target, positives=1, negatives=3)
        >>> [[target[item] for item in batch] for batch in sampler]  # 6 negatives, 3 at a time
        [[1, 0, 0, 0], [1, 0, 0, 0]]
        >>> sampler.rate, sampler.prior  # share of positives in a batch and in the data set
        (0.25, 0.25)
    """

    def __init__(
        self,
        target: object,
        positives: int,
        negatives: int,
        *,
        seed: int = 0,
        rank: int | None = None,
        world_size: int | None = None,
    ) -> None:
        require_count("positives", positives)
        require_count("negatives", negatives)
        positive = read_target(target)
        self._positives, self._negatives = np.flatnonzero(positive), np.flatnonzero(~positive)
        _require_enough("positives", positives, self._positives)
        _require_enough("negatives", negatives, self._negatives)
        self.positives, self.negatives = positives, negatives
        super().__init__(math.ceil(len(self._negatives) / negatives), seed, rank, world_size)

    @property
    def rate(self) -> float:
        """The share of positives in a batch."""
        return self.positives / (self.positives + self.negatives)

    @property
    def prior(self) -> float:
        """The share of positives in the data set: the ``prior=`` of an objective."""
        return len(self._positives) / (len(self._positives) + len(self._negatives))

    def plan(self, rng: np.random.Generator) -> list[Ints]:
        above = even_draws(len(self._positives), self.positives, self._batches, rng)
        size = (self._batches, self.negatives)
        below = np.resize(rng.permutation(self._negatives), size)  # begins again at the end
        return list(np.concatenate([self._positives[above], below], axis=1))


def _require_enough(name: str, asked: int, there: Ints) -> None:
    if len(there) == 0:
        raise ValueError(f"target must contain both classes, got no {name}")
    if asked > len(there):
        raise ValueError(
            f"{name} must be at most the {len(there)} {name} in target, "
            f"got {asked}; a batch holds no item twice"
        )


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
