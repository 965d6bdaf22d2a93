"""Which rows a step is made on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rankwise.baselines.itemwise import ItemwiseObjective
from rankwise.estimators.data import Part, Training
from rankwise.objectives import Objective
from rankwise.samplers import BalancedBatches, ListBatches

__all__ = ["epoch_batches"]

_Rows = NDArray[np.int64]


def epoch_batches(
    data: Training, objective: Objective, batch_size: int, positives: int | None
) -> Iterator[list[_Rows]]:
    """The batches of one epoch after another, for ever.

    The rows as they come for a loss of single items; whole lists where there are lists; else
    batches with a fixed number of positives, by default an eighth of the batch or their own share,
    whichever is more.
    """
    train = data.train
    if isinstance(objective, ItemwiseObjective):
        yield from _shuffled(train, batch_size, data.seed)
    elif train.groups is not None:
        sizes = train.list_sizes
        lists = int(np.clip(batch_size // sizes.mean(), 1, len(sizes)))
        yield from _planned(ListBatches(train.groups, lists, seed=data.seed))
    else:
        above = int((train.target > 0).sum())
        wanted = max(batch_size // 8, round(batch_size * data.prior), 1)
        taken = min(wanted if positives is None else positives, above)
        rest = min(max(1, batch_size - taken), len(train) - above)
        yield from _planned(BalancedBatches(train.target > 0, taken, rest, seed=data.seed))


def _planned(sampler: BalancedBatches | ListBatches) -> Iterator[list[_Rows]]:
    while True:
        yield [np.asarray(batch) for batch in sampler]


def _shuffled(train: Part, batch_size: int, seed: int) -> Iterator[list[_Rows]]:
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(len(train))
        yield np.split(order, range(batch_size, len(train), batch_size))
