"""Whether one model ranks rows significantly better than another."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankwise.estimators.data import Floats, Part
from rankwise.estimators.limits import time_is_up

_RESAMPLES, _CONFIDENCE = 100, 0.95


def clearly_better(
    first: Floats, second: Floats, part: Part, metric: Callable[[Floats, Part], float], seed: int
) -> bool:
    """Return whether ``first`` has the higher metric on the rows and on 95 of 100 resamples.

    A resample draws as many positives and negatives as there are, or as many lists, with
    replacement; both models are evaluated on the same ones. If the time is up before, the answer
    is False.
    """
    if not metric(first, part) > metric(second, part):
        return False
    rng, wins = np.random.default_rng(seed), 0
    for done in range(1, _RESAMPLES + 1):
        if part.groups is None:
            classes = [np.flatnonzero(part.target == value) for value in np.unique(part.target)]
            rows = np.concatenate([rng.choice(members, len(members)) for members in classes])
        else:
            lists = np.unique(part.groups)
            # A list drawn twice would become one of twice its length: it counts once.
            rows = np.flatnonzero(np.isin(part.groups, rng.choice(lists, len(lists))))
        resample = part.rows(rows)
        wins += metric(first[rows], resample) > metric(second[rows], resample)
        if done - wins > (1 - _CONFIDENCE) * _RESAMPLES:  # the rest cannot change the answer
            return False
        if done < _RESAMPLES and time_is_up():
            return False
    return True
