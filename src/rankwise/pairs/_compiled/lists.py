"""Lists with both sides sorted, and the sums of forms over their pairs."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rankwise.pairs._compiled.polynomials import add_high_powers, add_separable
from rankwise.pairs._compiled.sort import Numbers, Whole, gather, sort_lists
from rankwise.pairs._compiled.walks import add_decays, add_powers
from rankwise.pairs.forms import PairForm

_LOW = 2  # highest power that add_powers sums


class Side:
    """One side of some lists: sorted scores, where they came from, where each list starts.

    Args:
        scores: All scores of the side, flat.
        starts: Start of each list in ``order``, and the end of the last one.
        order: Places of the items of these lists, list by list.
        sort: Whether to sort every list.
    """

    def __init__(self, scores: Numbers, starts: Whole, order: Whole, *, sort: bool) -> None:
        self.starts, self.order = starts, order
        if not sort:
            self.values = scores[order]
            return
        bits: Whole = scores.view(np.int64 if scores.dtype == np.float64 else np.int32)
        keys = np.empty(len(order), dtype=bits.dtype)
        sort_lists(bits, starts, keys, order, (np.empty_like(keys), np.empty_like(order)))
        self.values = keys.view(scores.dtype)


class SortedLists:
    """Both sides of some lists, with their sums in both directions."""

    def __init__(self, upper: Side, lower: Side) -> None:
        self.upper, self.lower = upper, lower

    def sums(
        self, forms: tuple[PairForm, ...], weight: Numbers | None, *, at_upper: bool
    ) -> tuple[Numbers, Whole]:
        """Return Σ weight · F(upper − lower) of every form, (forms, items), and the items' places.

        At every upper the sum is over the lowers of its list, at every lower over the uppers.
        ``weight`` belongs to what is summed over, flat and as it came; None counts all once.
        """
        targets, sources = (self.upper, self.lower)[:: 1 if at_upper else -1]
        weights = np.empty(0 if weight is None else len(sources.order))
        if weight is not None:
            gather(weight, sources.order, weights)
        sums = np.zeros((len(forms), len(targets.order)))
        sides = sources.values, sources.starts, weights, targets.values, targets.starts
        given, form = _factors(forms), forms[0]
        if form.breaks:
            add = add_powers if given.jumps.shape[2] == _LOW + 1 else add_high_powers
            add(*sides, at_upper, given.breaks, given.jumps, form.closed, sums)
        if given.left.size or given.rise.size:
            add_decays(*sides, at_upper, True, form.rate, given.left, given.rise, sums)
        if given.right.size:
            add_decays(*sides, not at_upper, False, form.rate, given.right, given.none, sums)
        if given.tail.any() or given.growth.any():
            add_separable(*sides, at_upper, given.tail, given.growth, form.rate, sums)
        return sums, targets.order


class _Factors(NamedTuple):
    breaks: Numbers  # (breaks,)
    jumps: Numbers  # (breaks, forms, powers), at least three
    left: Numbers  # (forms, terms), as rise and right
    rise: Numbers
    right: Numbers
    none: Numbers  # (forms, 0)
    tail: Numbers  # (forms, powers)
    growth: Numbers  # (forms,)


@lru_cache(maxsize=256)
def _factors(forms: tuple[PairForm, ...]) -> _Factors:
    """The numbers of forms with the same breaks, as arrays."""
    breaks = forms[0].breaks
    highest = max(_LOW, *(form.degree for form in forms))
    jumps = np.zeros((len(breaks), len(forms), highest + 1))
    for f, form in enumerate(forms):
        for b, jump in enumerate(form.jumps):
            jumps[b, f, : len(jump)] = jump
    return _Factors(
        np.array(breaks, dtype=np.float64),
        jumps,
        _table([form.left for form in forms]),
        _table([form.rise for form in forms]),
        _table([form.right for form in forms]),
        np.zeros((len(forms), 0)),
        _table([form.tail for form in forms]),
        np.array([form.growth for form in forms]),
    )


def _table(rows: list[tuple[float, ...]]) -> Numbers:
    table = np.zeros((len(rows), max(map(len, rows))))
    for row, factors in zip(table, rows, strict=True):
        row[: len(factors)] = factors
    return table
