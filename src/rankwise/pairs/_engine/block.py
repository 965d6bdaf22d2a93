"""All pair sums of one block of lists: the plan made once, sums taken to either side."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from rankwise.pairs._engine.exponentials import exponentials_at_knots, exponentials_at_points
from rankwise.pairs._engine.knots import Knots, make_knots
from rankwise.pairs._engine.powers import powers_at_knots, powers_at_points
from rankwise.pairs._engine.separable import add_separable_at_lower, add_separable_at_upper
from rankwise.pairs.forms import PairForm

__all__ = ["Block", "make_block"]


@dataclass(frozen=True)
class Block:
    """Centered scores of both sides, (rows, n⁺) and (rows, n⁻), and their sorted knots if any."""

    upper: Tensor
    lower: Tensor
    knots: Knots | None

    def at_upper(self, forms: tuple[PairForm, ...], weight: Tensor) -> list[Tensor]:
        """Σ_j weight_j · F(upper_i − lower_j) for every form; ``weight`` is one per lower."""
        results = self._sums(forms, weight, self.upper, toward_upper=True)
        for result, form in zip(results, forms, strict=True):
            add_separable_at_upper(result, form, self.upper, self.lower, weight)
        return results

    def at_lower(self, forms: tuple[PairForm, ...], weight: Tensor) -> list[Tensor]:
        """Σ_i weight_i · F(upper_i − lower_j) for every form; ``weight`` is one per upper."""
        results = self._sums(forms, weight, self.lower, toward_upper=False)
        for result, form in zip(results, forms, strict=True):
            add_separable_at_lower(result, form, self.upper, self.lower, weight)
        return results

    def _sums(
        self, forms: tuple[PairForm, ...], weight: Tensor, like: Tensor, *, toward_upper: bool
    ) -> list[Tensor]:
        if self.knots is None:
            return [torch.zeros_like(like) for _ in forms]
        if toward_upper == self.knots.knots_are_upper:
            weight = self.knots.to_points(weight)
            results = powers_at_knots(self.knots, forms, weight)
            if any(form.has_exponentials for form in forms):
                exponentials_at_knots(self.knots, forms, weight, results)
            return results
        results = powers_at_points(self.knots, forms, weight)
        if any(form.has_exponentials for form in forms):
            exponentials_at_points(self.knots, forms, weight, results)
        return [self.knots.from_points(result) for result in results]


def make_block(form: PairForm, upper: Tensor, lower: Tensor) -> Block:
    """Center each row and sort it where ``form`` has breaks.

    Differences do not change with the center, but scores around 10⁶ would lose the digits that a
    difference needs as soon as a break is added to them. The center has few digits itself, so that
    taking it away rounds nothing: what ties with a break goes on to tie.
    """
    center = lower.mean(-1, keepdim=True).clamp(-1e30, 1e30).float().to(lower.dtype)
    upper, lower = upper - center, lower - center
    return Block(upper, lower, make_knots(form, upper, lower) if form.breaks else None)
