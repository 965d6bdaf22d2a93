"""Where the items of every list are, in rectangles and in flat batches of groups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from rankwise.pairs._compiled.sort import Whole, group
from rankwise.pairs.ragged import number_lists


class Layout(NamedTuple):
    """Where the items of every list are: the places of its uppers and of its lowers."""

    upper_starts: Whole  # (lists + 1,) into the places
    lower_starts: Whole
    upper_places: Whole | None = None  # None: the items lie list by list
    lower_places: Whole | None = None

    def has_few_pairs(self, few: int) -> bool:
        """Return whether all lists are of one size with at most ``few`` pairs for a score."""
        upper, lower = np.diff(self.upper_starts), np.diff(self.lower_starts)
        alike = len(upper) > 0 and bool((upper == upper[0]).all() and (lower == lower[0]).all())
        return alike and bool(upper[0] * lower[0] <= few * (upper[0] + lower[0]))

    def exchanged(self) -> Layout:
        """Return the layout of the same lists with their sides exchanged."""
        return Layout(self.lower_starts, self.upper_starts, self.lower_places, self.upper_places)


def layout_of_rows(upper: Tensor, lower: Tensor) -> Layout:
    """Return the layout of rectangles, (lists, n⁺) and (lists, n⁻)."""
    rows = np.arange(len(upper) + 1)
    return Layout(rows * upper.shape[-1], rows * lower.shape[-1])


def layout_of_groups(
    upper_groups: Tensor, lower_groups: Tensor, lower_mask: Tensor | None
) -> Layout:
    """Return the layout of flat lists; what is masked belongs to none."""
    (upper, lower), n_lists = number_lists(upper_groups, lower_groups)
    if lower_mask is not None:
        lower = torch.where(lower_mask, lower, n_lists)  # a list behind the last one
    upper_starts, upper_places = _places(upper.numpy(), n_lists)
    lower_starts, lower_places = _places(lower.numpy(), n_lists)
    return Layout(upper_starts, lower_starts, upper_places, lower_places)


def _places(list_of: Whole, n_lists: int) -> tuple[Whole, Whole | None]:
    """Return the start of every list and the places of its items, None if they lie in order."""
    counts = np.bincount(list_of, minlength=n_lists + 1)
    starts = np.concatenate(([0], np.cumsum(counts)))
    lists = starts[: n_lists + 1]
    if bool((list_of[1:] >= list_of[:-1]).all()):
        return lists, None
    places = np.empty(len(list_of), dtype=np.int32)
    group(list_of, starts, places)
    return lists, places
