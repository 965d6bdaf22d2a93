"""Threads and algorithms of a training, which decide the last bits of its result."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from rankwise._record import threads_of
from rankwise.training.run_folder import ThreadsWarning

THREADS = 4
"""Threads of a training command, or as many as there are cores where these are fewer."""
_CUBLAS = "CUBLAS_WORKSPACE_CONFIG"  # without it cuBLAS has no deterministic algorithms


@contextmanager
def reproducible(
    out: Path, *, resume: bool = False, threads: int | None = None, deterministic: bool = False
) -> Iterator[str | None]:
    """Set the number of threads of torch, and its deterministic algorithms, for a training.

    Sums over several threads are added in an order that follows from their number. The number is
    the one that was asked for; else that of the run that is resumed; else ``OMP_NUM_THREADS``; else
    :data:`THREADS`. It is in ``run.json``.

    Args:
        out: Folder of the run.
        resume: Whether the run in the folder is resumed.
        threads: Number of threads; None: see above.
        deterministic: Whether an operation without a deterministic algorithm raises
            (``torch.use_deterministic_algorithms``).

    Yields:
        What to say about a run that is resumed with another number of threads; else None.

    Example:
        >>> import torch
        >>> from pathlib import Path
        >>> from rankwise.training import reproducible
        >>> with reproducible(Path("no-such-run"), threads=2):
        ...     torch.get_num_threads()
        2
    """
    started = threads_of(out) if resume else None
    chosen = threads or started or _default()
    before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    if deterministic:
        os.environ.setdefault(_CUBLAS, ":4096:8")
        torch.use_deterministic_algorithms(True)
    torch.set_num_threads(chosen)
    said = None
    if started is not None and chosen != started:
        said = (
            f"resumed with {chosen} threads, the run was started with {started}: its result may "
            f"differ in the last bits; pass --threads {started} for the same ones"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ThreadsWarning)
            yield said
    finally:
        torch.set_num_threads(before[0])
        torch.use_deterministic_algorithms(before[1])


def _default() -> int:
    given = os.environ.get("OMP_NUM_THREADS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    return min(THREADS, len(os.sched_getaffinity(0)))
