"""The rows held out of a fit, and whether one model ranks them better than another.

The hash of its values decides where a row goes: equal rows stay together, and the order of the rows
does not matter. So a row of weight 2 is the row twice here, too, and no copy of a training row is
among the rows that should be new to the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rankwise.boosting.disk import DiskMatrix
from rankwise.estimators.data import Floats, Matrix, Part, Vector
from rankwise.estimators.limits import time_is_up

_Keys = NDArray[np.uint64]
_BLOCK = 1 << 14  # rows hashed at a time
_SET_ASIDE = 0.2  # of the rows, for a threshold with a confidence
_RESAMPLES, _CONFIDENCE = 100, 0.95


def hold_out(part: Part, fraction: float, seed: int) -> NDArray[np.bool_]:
    """Return True for the rows held out: ``fraction`` of each class by weight, or of the lists.

    No row is held out where that would leave one side without a class, or without a list that has
    both.
    """
    none = np.zeros(len(part), dtype=bool)
    if fraction == 0:
        return none
    if part.groups is not None:
        lists = _lists_held_out(part, fraction, seed)
        return none if lists is None else lists[part.groups]
    keys, held = row_keys(part.X, seed), none.copy()
    for members in part.members:
        own = keys[members]
        last = _last_key(own, None if part.weight is None else part.weight[members], fraction)
        if last is None:
            return none
        held[members] = own <= last
    return held


def set_aside(part: Part, threshold: str | float, fraction: float, seed: int) -> tuple[Part, Part]:
    """Split off rows that choose the threshold and nothing else, as a confidence needs."""
    part = part.weighted_rows()
    if part.groups is not None:
        raise ValueError(
            f"threshold {threshold!r} needs independent rows, which those of a list are not: leave "
            "out the confidence or groups"
        )
    if part.weight is not None and not (part.weight == 1).all():
        raise ValueError(
            f"threshold {threshold!r} needs rows that count once each: leave out the confidence or "
            "sample_weight"
        )
    held = hold_out(part, fraction or _SET_ASIDE, seed)
    if not held.any():
        raise ValueError(
            f"threshold {threshold!r} needs rows that the model does not learn from: both classes "
            "must have at least two different rows"
        )
    return part.rows(~held), part.rows(held)


def _last_key(keys: _Keys, weight: Vector | None, fraction: float) -> np.uint64 | None:
    """Return the key up to which keys have about a fraction of the weight, but not all of them.

    None where all keys are the same.
    """
    if weight is not None:
        different, which = np.unique(keys, return_inverse=True)
        total = np.cumsum(np.bincount(which, weight))
        wanted = int(np.argmin(np.abs(total - fraction * total[-1])))
        return None if len(different) < 2 else different[min(wanted, len(different) - 2)]
    # A sorted copy is all the memory this takes: every row of a large table is here.
    ordered = np.sort(keys)
    if not len(keys) or ordered[0] == ordered[-1]:
        return None
    wanted_count = fraction * len(keys)
    here = ordered[int(wanted_count)]
    below, through = (int(np.searchsorted(ordered, here, side)) for side in ("left", "right"))
    nearer = below if below > 0 and wanted_count - below <= through - wanted_count else through
    last: np.uint64 = ordered[min(nearer, int(np.searchsorted(ordered, ordered[-1]))) - 1]
    return last


def folds_of(part: Part, folds: int, seed: int) -> NDArray[np.int64]:
    """Return the number 0, 1, … of the fold of every row: equal rows stay together.

    Raises:
        ValueError: A class has fewer different rows than folds, or there are fewer lists with both.
    """
    found = np.empty(len(part), dtype=np.int64)
    if part.groups is not None:
        complete = _complete(part)
        _require_folds(folds, int(complete.sum()), "lists with both classes")
        rng, of_list = np.random.default_rng(seed), np.empty(len(complete), dtype=np.int64)
        for kind in (complete, ~complete):
            of_list[rng.permutation(np.flatnonzero(kind))] = np.arange(kind.sum()) % folds
        return of_list[part.groups]
    keys = row_keys(part.X, seed)
    names = [f"class {number}" for number in range(part.classes)]
    for members, name in zip(
        part.members, ["positive", "negative"] if part.classes == 2 else names, strict=True
    ):
        different, which = np.unique(keys[members], return_inverse=True)
        _require_folds(folds, len(different), f"different {name} rows")
        found[members] = which * folds // len(different)
    return found


def _require_folds(folds: int, most: int, of: str) -> None:
    if folds > most:
        raise ValueError(f"folds must be at most the number of {of}, {most}, got {folds}")


def _complete(part: Part) -> NDArray[np.bool_]:
    """Return which lists have rows of both classes, or of different relevances."""
    assert part.groups is not None
    count = int(part.groups.max()) + 1
    highest, lowest = np.full(count, -np.inf), np.full(count, np.inf)
    np.maximum.at(highest, part.groups, part.target)
    np.minimum.at(lowest, part.groups, part.target)
    return highest > lowest


def _lists_held_out(part: Part, fraction: float, seed: int) -> NDArray[np.bool_] | None:
    complete = _complete(part)
    if complete.sum() < 2:
        return None
    rng, held = np.random.default_rng(seed), np.zeros(len(complete), dtype=bool)
    for kind in (complete, ~complete):
        order = rng.permutation(np.flatnonzero(kind))
        wanted = round(fraction * len(order))
        if kind is complete:
            wanted = min(max(1, wanted), len(order) - 1)
        held[order[:wanted]] = True
    return held


def row_keys(matrix: Matrix, seed: int) -> _Keys:
    """Return a hash of every row that depends on its values and the seed alone."""
    rows, columns = matrix.shape
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, 2**63, columns, dtype=np.uint64)
    factors: _Keys = np.asarray(drawn * np.uint64(2) + np.uint64(1))
    if not isinstance(matrix, (np.ndarray, DiskMatrix)):
        terms = _bits(matrix.data) * factors[matrix.indices]
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
        return _mixed(sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]])
    keys = np.empty(rows, dtype=np.uint64)
    for start in range(0, rows, _BLOCK):
        block = slice(start, start + _BLOCK)
        keys[block] = (_bits(matrix[block]) * factors).sum(axis=1, dtype=np.uint64)
    return _mixed(keys)


def _bits(values: Floats) -> _Keys:
    """Return the bits of values, folded so that round numbers differ at both ends; 0 for zero."""
    # Adding zero makes −0 and 0 the same.
    bits: _Keys = np.ascontiguousarray(values.astype(np.float64) + 0.0).view(np.uint64)
    return bits ^ (bits >> np.uint64(32))


def _mixed(keys: _Keys) -> _Keys:
    """Spread neighboring numbers over all of them (splitmix64), in place."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        keys ^= keys >> np.uint64(shift)
        keys *= np.uint64(factor)
    keys ^= keys >> np.uint64(31)
    return keys


def clearly_better(
    first: Floats, second: Floats, part: Part, metric: Callable[[Floats, Part], float], seed: int
) -> bool:
    """Return whether ``first`` has the higher metric on the rows and on 95 of 100 resamples.

    A resample draws as many rows of each class as there are, or as many lists, with
    replacement; both models are evaluated on the same ones. If the time is up before, the answer
    is False.
    """
    if not metric(first, part) > metric(second, part):
        return False
    rng, wins = np.random.default_rng(seed), 0
    part = replace(part, X=np.empty((len(part), 0)))  # a metric needs no features
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
