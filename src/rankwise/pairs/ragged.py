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
    mask: Tensor | None  # (rows, longest) True where a cell holds an item; None: all do
    in_order: bool  # the cells are the flat input as it is

    def take(self, flat: Tensor, fill: float = 0.0) -> Tensor:
        """The flat values laid out in this rectangle, differentiable in them."""
        shape = self.positions.shape
        if len(flat) == 0:  # nothing to point at: every cell is padding
            return flat.new_full(shape, fill)
        if self.in_order:
            return flat.reshape(shape)
        # The gradient of an index would sort places; that of a gather does not.
        if self.mask is None:
            return flat.gather(0, self.positions.reshape(-1)).reshape(shape)
        # Padding is taken from behind the last item.
        cells = self.positions.masked_fill(~self.mask, len(flat)).reshape(-1)
        padded = torch.cat([flat, flat.new_full((1,), fill)])
        return padded.gather(0, cells).reshape(shape)

    def restore(self, cells: Tensor) -> tuple[Tensor, Tensor]:
        """The items of a rectangle, flat, and the place of each of them in the flat input."""
        if self.mask is None:
            return cells.reshape(-1), self.positions.reshape(-1)
        return cells.masked_select(self.mask), self.positions[self.mask]


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
    if n_lists == 0:
        return
    counts = [torch.bincount(side, minlength=n_lists) for side in sides]
    orders = [_stable_order(side, n_lists) for side in sides]
    starts = [count.cumsum(0) - count for count in counts]
    # The class of a list: the bit length of its size on every side.
    code = torch.zeros(n_lists, dtype=torch.long, device=groups[0].device)
    for count in counts:
        code = code * 64 + torch.frexp(count.double()).exponent
    sizes = torch.bincount(code)  # few numbers: to sort them would take longer
    classes, every = sizes.nonzero().squeeze(-1), torch.arange(n_lists, device=code.device)
    if len(classes) == 1:
        sides_of_all = zip(orders, starts, counts, strict=True)
        yield every, [_rectangle(*side, is_all=True) for side in sides_of_all]
        return
    which = torch.searchsorted(classes, code)
    members_by_class = _stable_order(which, len(classes))
    if members_by_class is None:
        members_by_class = every
    for members in torch.split(members_by_class, sizes[classes].tolist()):
        yield (
            members,
            [
                _rectangle(order, start[members], count[members], is_all=False)
                for order, start, count in zip(orders, starts, counts, strict=True)
            ],
        )


_DIGIT = 1 << 15  # numbers of 16 bits, which torch sorts by radix, ten times as fast as longer ones


def _stable_order(numbers: Tensor, count: int) -> Tensor | None:
    """The stable order of whole numbers below ``count``; None if they have it."""
    if bool((numbers[1:] >= numbers[:-1]).all()):
        return None
    if count <= _DIGIT:
        return torch.sort(numbers.to(torch.int16), stable=True).indices
    bits = len(numbers).bit_length()
    if not numbers.is_cpu or count.bit_length() + bits > _WORD:
        return torch.sort(numbers, stable=True).indices
    # A number and its place in one word: no two are equal, and sorting needs no indices. That of
    # numpy takes a third of the time of torch's.
    keys = (numbers << bits).add_(torch.arange(len(numbers)))
    keys.numpy().sort()
    return keys.bitwise_and_((1 << bits) - 1)


_WORD = 63  # bits of a number that is not negative


def _rectangle(order: Tensor | None, start: Tensor, count: Tensor, *, is_all: bool) -> Side:
    """The lists that start here; ``order`` of all items is None where they lie list by list."""
    shortest, longest = (int(end) for end in count.aminmax())
    column = torch.arange(longest, device=start.device)
    cell, mask = start[:, None] + column, None
    if shortest < longest:
        mask = column < count[:, None]
        cell.masked_fill_(~mask, 0)
    return Side(
        cell if order is None or len(order) == 0 else order[cell],
        mask,
        in_order=is_all and mask is None and order is None,
    )
