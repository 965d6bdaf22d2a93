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
        return flat[self.positions].masked_fill(~self.mask, fill)


def size_classes(*groups: Tensor) -> Iterator[tuple[Tensor, list[Side]]]:
    """Split flat group ids, one tensor a side, into rectangles of lists of similar length.

    Ids may be any integers in any order. A list that is missing on one side has an empty row there.
    Every rectangle comes with the places of its lists in ascending order of all ids.
    """
    ids, compact = torch.unique(torch.cat(groups), return_inverse=True)
    sides = torch.split(compact, [len(g) for g in groups])
    counts = [torch.bincount(side, minlength=len(ids)) for side in sides]
    orders = [torch.argsort(side, stable=True) for side in sides]
    starts = [count.cumsum(0) - count for count in counts]
    # The class of a list: the bit length of its size on every side.
    bits = torch.stack([torch.frexp(count.double()).exponent for count in counts], dim=1)
    _, which, sizes = torch.unique(bits, dim=0, return_inverse=True, return_counts=True)
    for members in torch.split(torch.argsort(which, stable=True), sizes.tolist()):
        yield (
            members,
            [
                _rectangle(order, start[members], count[members])
                for order, start, count in zip(orders, starts, counts, strict=True)
            ],
        )


def _rectangle(order: Tensor, start: Tensor, count: Tensor) -> Side:
    longest = int(count.max()) if len(count) else 0
    column = torch.arange(longest, device=order.device)
    mask = column < count[:, None]
    cell = (start[:, None] + column).masked_fill(~mask, 0)
    positions = order[cell] if len(order) else cell
    return Side(positions, mask)
