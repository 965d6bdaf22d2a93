"""Whether one model ranks rows better than another, or only happens to."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankwise.estimators.data import Floats, Part
from rankwise.estimators.time_limit import time_is_up

__all__ = ["clearly_better"]

_RESAMPLES, _SURE = 100, 0.95


def clearly_better(
    first: Floats, second: Floats, part: Part, metric: Callable[[Floats, Part], float], seed: int
) -> bool:
    """Whether ``first`` has the higher metric on the rows and on 95 of 100 resamples of them.

    A resample draws as many positives and negatives as there are, or as many lists, with
    replacement; both models are judged on the same ones. Where the time is up before, it is not
    clear.
    """
    if not metric(first, part) > metric(second, part):
        return False
    rng, wins = np.random.default_rng(seed), 0
    for done in range(1, _RESAMPLES + 1):
        rows = _drawn(part, rng)
        some = part.rows(rows)
        wins += metric(first[rows], some) > metric(second[rows], some)
        if done - wins > (1 - _SURE) * _RESAMPLES:  # too many were lost for the others to matter
            return False
        if done < _RESAMPLES and time_is_up():
            return False
    return True


def _drawn(part: Part, rng: np.random.Generator) -> np.ndarray:
    if part.groups is None:
        classes = [np.flatnonzero(part.target == value) for value in np.unique(part.target)]
        return np.concatenate([rng.choice(members, len(members)) for members in classes])
    lists = np.unique(part.groups)
    # A list that is drawn twice would become one of twice its length: it counts once.
    return np.flatnonzero(np.isin(part.groups, rng.choice(lists, len(lists))))
