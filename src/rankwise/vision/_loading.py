"""Batches of a data set, loaded by processes of their own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import torch
from torch.utils.data import DataLoader, Dataset

__all__ = ["load_batches"]

Batch = TypeVar("Batch")
_SIGNAL = 1.0  # seconds within which torch hears of a process that has ended


def load_batches(
    dataset: Dataset[Any],
    batches: Iterable[Any],
    collate: Callable[[Any], Batch],
    workers: int,
) -> Iterator[Batch]:
    """Yield the batches of a data set, loaded by ``workers`` processes.

    Raises:
        RuntimeError: One of the processes was killed; the message begins with "DataLoader worker".
    """
    loader: DataLoader[Any] = DataLoader(
        dataset,
        batch_sampler=batches,
        collate_fn=collate,
        num_workers=workers,
        # Its own: a resumed run starts a loader more, which must not draw from torch's.
        generator=torch.Generator(),
    )
    try:
        yield from loader
    except (ConnectionError, EOFError) as error:
        if not workers or str(error).startswith("Caught "):  # an error of the data set itself
            raise
        # A killed process closes its connections first. Then torch's handler of SIGCHLD raises,
        # which must not happen while the caller handles this error.
        time.sleep(_SIGNAL)
        raise RuntimeError("DataLoader worker closed its connection") from error
