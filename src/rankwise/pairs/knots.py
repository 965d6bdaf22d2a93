"""The plan of a block of lists: sort the smaller side once, find where the other side falls.

Both sides are put on one line so that the difference of a pair is ``x − b = knot − point``: the
*knots* are the smaller side, one for each of its elements and each break b of the surrogate,
sorted; the *points* are the larger side, unsorted, each knowing how many knots lie below it. Sums
run both ways over that structure (:mod:`powers`, :mod:`exponentials`): from points to knots, and
back. Sorting only the smaller side is what makes a rare class cheap.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from rankwise.pairs.forms import PairForm

__all__ = ["Knots", "make_knots"]


@dataclass(frozen=True)
class Knots:
    """Sorted knots and the points between them, for every row of a block."""

    upper: Tensor  # (rows, n_upper), centred
    lower: Tensor  # (rows, n_lower), centred
    knots_are_upper: bool
    breaks: int  # knots an element of the smaller side has
    line: Tensor  # (rows, n_knots) ascending
    order: Tensor  # (rows, n_knots) element of the unsorted knots behind each sorted one
    slot: Tensor  # (rows, n_points) number of knots below the point
    above: Tensor  # (rows, n_points) point − the last knot below it; 0 where slot is 0

    @property
    def gaps(self) -> Tensor:
        """Distance of every knot from the one before it, 0 for the first."""
        return torch.diff(self.line, dim=-1, prepend=self.line[..., :1])

    def below(self) -> Tensor:
        """The first knot at or above the point − point; 0 for points above all knots."""
        n_knots = self.line.shape[-1]
        upcoming = self.line.gather(-1, self.slot.clamp(max=n_knots - 1))
        points = self.lower if self.knots_are_upper else -self.upper
        return (upcoming - points).clamp_min(0)

    def to_knots(self, values: Tensor, factors: list[float]) -> Tensor:
        """Per-element values laid out on the sorted knots, multiplied by their break's factor."""
        if self.breaks == 1:
            return values.gather(-1, self.order) * factors[0]
        spread = torch.cat([values * factor for factor in factors], dim=-1)
        return spread.gather(-1, self.order)

    def from_knots(self, values: Tensor) -> Tensor:
        """Values of the sorted knots back in the order of the elements: (rows, breaks, n)."""
        unsorted = torch.empty_like(values).scatter_(-1, self.order, values)
        return unsorted.reshape(*values.shape[:-1], self.breaks, -1)


def make_knots(form: PairForm, upper: Tensor, lower: Tensor) -> Knots:
    """Sort and search one block: ``upper`` (rows, n⁺) and ``lower`` (rows, n⁻), both non-empty."""
    knots_are_upper = upper.shape[-1] <= lower.shape[-1]
    if knots_are_upper:
        unsorted = torch.cat([upper - b for b in form.breaks], dim=-1)
        points = lower
    else:
        unsorted = torch.cat([-(lower + b) for b in form.breaks], dim=-1)
        points = -upper
    line, order = torch.sort(unsorted, dim=-1)
    slot = torch.searchsorted(line, points.contiguous(), right=form.closed)
    nearest = line.gather(-1, (slot - 1).clamp_(min=0))
    # A point below every knot has slot 0: it takes part in nothing, and neither may its distance.
    above = (points - nearest).clamp_min_(0)
    return Knots(upper, lower, knots_are_upper, len(form.breaks), line, order, slot, above)
