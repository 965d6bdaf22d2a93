"""Batches with positives in them, for ``DataLoader(dataset, batch_sampler=...)``.

All are seeded, resumable, sharded over processes and new in every epoch: see :mod:`.base`.
"""

from rankwise.samplers.balanced import BalancedBatches
from rankwise.samplers.classes import ClassBatches
from rankwise.samplers.lists import ListBatches

__all__ = ["BalancedBatches", "ClassBatches", "ListBatches"]
