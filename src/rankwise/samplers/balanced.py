"""Batches with a fixed number of positives."""

from __future__ import annotations

import math

import numpy as np

from rankwise.checks import require_count
from rankwise.samplers._items import Ints, even_draws, read_target
from rankwise.samplers.base import EpochBatches


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
