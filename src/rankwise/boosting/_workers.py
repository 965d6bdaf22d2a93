"""Rows of all workers of XGBoost's distributed training."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwise.boosting.rows import BoosterData, Floats, Rows


class Joined(NamedTuple):
    """Scores and rows of all workers, by rank, and where those of this worker are."""

    scores: Floats
    rows: Rows
    own: slice


def join_workers(scores: Floats, rows: Rows, data: BoosterData) -> Joined:
    """Gather the rows of all workers; those of this process where there are no others.

    Lists are whole: none is spread over workers. A worker without weights has weights of 1 where
    others have some.
    """
    if not hasattr(data, "get_uint_info"):  # LightGBM's
        return Joined(scores, rows, slice(None))
    from xgboost import collective  # noqa: PLC0415  (an extra)

    if collective.get_world_size() == 1:
        return Joined(scores, rows, slice(None))
    lists = 0 if rows.groups is None else int(rows.groups.max(initial=-1)) + 1
    known = [len(scores), lists, int(rows.weight is not None), int(rows.groups is not None)]
    about = _gathered(np.array(known, dtype=np.float64), len(known) * collective.get_rank(),
                      len(known) * collective.get_world_size())  # fmt: skip
    sizes, counts, weighted, grouped = about.reshape(-1, len(known)).astype(np.int64).T
    if len(set(grouped[sizes > 0])) > 1:
        raise ValueError(
            "the data of all workers must have lists (group or qid), or that of none, "
            f"got lists on workers {np.flatnonzero(grouped).tolist()} of {len(grouped)}"
        )
    rank, total = collective.get_rank(), int(sizes.sum())
    start, before = int(sizes[:rank].sum()), int(counts[:rank].sum())

    def everywhere(values: Floats | NDArray[np.int64]) -> Floats:
        return _gathered(values.astype(np.float64), start, total)

    weight = groups = None
    if weighted.any():
        weight = everywhere(np.ones_like(scores) if rows.weight is None else rows.weight)
    if grouped.any():
        own = np.zeros(len(scores), dtype=np.int64) if rows.groups is None else rows.groups
        groups = everywhere(own + before).astype(np.int64)
    joined = replace(rows, target=everywhere(rows.target), weight=weight, groups=groups)
    return Joined(everywhere(scores), joined, slice(start, start + len(scores)))


def _gathered(values: Floats, start: int, total: int) -> Floats:
    """Return the values of all workers in one array: adding zeros changes nothing."""
    from xgboost import collective  # noqa: PLC0415  (an extra)

    whole = np.zeros(total)
    whole[start : start + len(values)] = values
    found: Floats = collective.allreduce(whole, collective.Op.SUM)
    return found
