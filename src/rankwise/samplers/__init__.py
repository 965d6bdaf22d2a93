"""Batches with positives in them, for ``DataLoader(dataset, batch_sampler=...)``.

All are seeded, resumable, sharded over processes and new in every epoch: see
:class:`EpochBatches`, the base class.
"""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
