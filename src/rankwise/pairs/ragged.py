"""Lists of different lengths as a few rectangles.

A flat batch of ragged lists is worked one *size class* at a time: the lists whose lengths share the
same power of two become the rows of one padded rectangle. Less than half of a rectangle is padding,
and a batch with lists of 3 and of a million items costs what its items cost, not rows × longest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Side:
    """One side of a size class: where each padded cell comes from in the flat input."""

    positions: Tensor  # (rows, longest) index into the flat input; 0 where nothing is
    mask: Tensor  # (rows, longest) True where a cell holds an item

    def take(self, flat: Tensor, fill: float = 0.0) -> Tensor:
        """The flat values laid out in this rectangle, differentiable in them."""
        if len(flat) == 0:  # nothing to point at: every cell is padding
            return flat.new_full(self.mask.shape, fill)
        # Padding is taken from behind the last item. The gradient of an index would sort places.
        cells = self.positions.masked_fill(~self.mask, len(flat)).reshape(-1)
        padded = torch.cat([flat, flat.new_full((1,), fill)])
        return padded.gather(0, cells).reshape(self.mask.shape)


def number_lists(*groups: Tensor) -> tuple[tuple[Tensor, ...], int]:
    """Number the lists by ascending id: the list of every item, one tensor a side, and their count.

    Ids from a range that is not much longer than the number of items need no sort.
    """
    sizes, ids = [len(g) for g in groups], torch.cat(groups).long()
    if len(ids) == 0:
        return torch.split(ids, sizes), 0
    low, high = (int(end) for end in ids.aminmax())
    if high - low > _SPARSE * len(ids):
        found, numbers = torch.unique(ids, return_inverse=True)
        return torch.split(numbers, sizes), len(found)
    numbers = ids - low
    present = torch.bincount(numbers) > 0
    names = present.cumsum(0)
    if int(names[-1]) < len(present):
        numbers = (names - 1)[numbers]
    return torch.split(numbers, sizes), int(names[-1])


_SPARSE = 4  # ids per item above which sorting them costs less than looking at their range


def size_classes(*groups: Tensor) -> Iterator[tuple[Tensor, list[Side]]]:
    """Split flat group ids, one tensor a side, into rectangles of lists of similar length.

    Ids may be any integers in any order. A list that is missing on one side has an empty row there.
    Every rectangle comes with the places of its lists in ascending order of all ids.
    """
    sides, n_lists = number_lists(*groups)
    counts = [torch.bincount(side, minlength=n_lists) for side in sides]
    orders = [_stable_order(side, n_lists) for side in sides]
    starts = [count.cumsum(0) - count for count in counts]
    # The class of a list: the bit length of its size on every side.
    code = torch.zeros(n_lists, dtype=torch.long, device=groups[0].device)
    for count in counts:
        code = code * 64 + torch.frexp(count.double()).exponent
    classes, which, sizes = torch.unique(code, return_inverse=True, return_counts=True)
    for members in torch.split(_stable_order(which, len(classes)), sizes.tolist()):
        yield (
            members,
            [
                _rectangle(order, start[members], count[members])
                for order, start, count in zip(orders, starts, counts, strict=True)
            ],
        )


_DIGIT = 15  # bits: torch sorts integers of 16 by radix, ten times as fast as longer ones


def _stable_order(numbers: Tensor, count: int) -> Tensor:
    """The stable order of whole numbers below ``count``, digit by digit."""
    order = torch.arange(len(numbers), device=numbers.device)
    if bool((numbers[1:] >= numbers[:-1]).all()):
        return order
    for shift in range(0, max(1, (count - 1).bit_length()), _DIGIT):
        digit = (numbers[order] >> shift) & ((1 << _DIGIT) - 1)
        order = order[torch.sort(digit.to(torch.int16), stable=True).indices]
    return order


def _rectangle(order: Tensor, start: Tensor, count: Tensor) -> Side:
    longest = int(count.max()) if len(count) else 0
    column = torch.arange(longest, device=order.device)
    mask = column < count[:, None]
    cell = (start[:, None] + column).masked_fill_(~mask, 0)
    return Side(order[cell] if len(order) else cell, mask)
