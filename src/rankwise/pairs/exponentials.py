"""Sums of decaying exponentials Σ e^{−k·rate·|knot − point|} over all pairs, by a decayed scan.

The points are taken apart at every knot: what lies below it decays upwards, what lies above it
decays downwards (:mod:`scan`). Every exponent is ≤ 0, so no score can overflow anything.

The sum over points is made first within each slot between two knots, then scanned over the knots;
the way back scans first and then spreads to the points. 1 − e^{−ky} (*rise*) is summed as such: it
is tiny near ties, where a difference of sums would lose it. Across a gap Δ
1 − e^{−k(y+Δ)} = (1 − e^{−ky}) e^{−kΔ} + (1 − e^{−kΔ}), positive terms only.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from rankwise.pairs.forms import PairForm
from rankwise.pairs.knots import Knots
from rankwise.pairs.scan import decayed_cumsum

__all__ = ["exponentials_at_knots", "exponentials_at_points"]

_pad = torch.nn.functional.pad


def exponentials_at_knots(
    knots: Knots, forms: tuple[PairForm, ...], weight: Tensor, results: list[Tensor]
) -> None:
    """Add Σ over the points of weight · (the exponential part of F) to the results at the knots."""
    rate, gaps = forms[0].rate, knots.gaps
    for side, terms in _sides(forms):
        within = weight.new_zeros(terms, len(weight), knots.line.shape[-1] + 1)
        for piece in knots.pieces():
            slot, mass = knots.slot[..., piece], weight[..., piece]
            distance = knots.below(piece) if side == "right" else knots.above[..., piece]
            for k, term in enumerate(_terms(side, rate * distance, terms)):
                within[k].scatter_add_(-1, slot, term.mul_(mass))
        if side == "right":
            sums = _scan_up(within[..., :-1], rate * gaps)
        else:
            sources = within[..., 1:]
            if side == "rise":
                mass = _sum_in_slots(weight, knots)[..., 1:].flip(-1).cumsum(-1).flip(-1)
                for k, term in enumerate(_terms("rise", rate * gaps, terms)):
                    sources[k, ..., :-1] += (term * mass)[..., 1:]
            sums = _scan_down(sources, rate * gaps)
        for result, form in zip(results, forms, strict=True):
            factors = getattr(form, side)
            if factors:
                total = torch.zeros_like(knots.line)
                for k, factor in enumerate(factors):
                    total.add_(sums[k], alpha=factor)
                result.add_(knots.from_knots(total)[..., 0, :])


def exponentials_at_points(
    knots: Knots, forms: tuple[PairForm, ...], weight: Tensor, results: list[Tensor]
) -> None:
    """Add Σ over the knots of weight · (the exponential part of F) to the results at the points."""
    rate, gaps = forms[0].rate, knots.gaps
    sources = knots.to_knots(weight, [1.0])
    for side, terms in _sides(forms):
        factors = [getattr(form, side) for form in forms]
        if side == "right":
            sums = _pad(_scan_down(sources.expand(terms, -1, -1), rate * gaps), (0, 1))
        elif side == "left":
            sums = _pad(_scan_up(sources.expand(terms, -1, -1), rate * gaps), (1, 0))
        else:
            mass = sources.cumsum(-1)
            steps = torch.stack(list(_terms("rise", rate * gaps, terms)))
            steps[..., 1:] *= mass[..., :-1]
            steps[..., 0] = 0
            sums = _pad(_scan_up(steps, rate * gaps), (1, 0))
            _spread(knots, results, factors, _pad(mass, (1, 0)).expand_as(sums), "rise", rate)
        _spread(knots, results, factors, sums, "right" if side == "right" else "left", rate)


def _spread(  # noqa: PLR0917
    knots: Knots,
    results: list[Tensor],
    factors: list[tuple[float, ...]],
    sums: Tensor,
    side: str,
    rate: float,
) -> None:
    """Add Σ_k factor_k · (the k-th sum at the point's slot) · (its k-th term) to each result."""
    for piece in knots.pieces():
        slot = knots.slot[..., piece]
        distance = knots.below(piece) if side == "right" else knots.above[..., piece]
        for k, term in enumerate(_terms(side, rate * distance, len(sums))):
            term.mul_(sums[k].gather(-1, slot))
            for result, factor in zip(results, factors, strict=True):
                if k < len(factor):
                    result[..., piece].add_(term, alpha=factor[k])


def _sides(forms: tuple[PairForm, ...]) -> Iterator[tuple[str, int]]:
    """The kinds of terms the forms have, each with the largest number of them."""
    for side in ("left", "rise", "right"):
        terms = max(len(getattr(form, side)) for form in forms)
        if terms:
            yield side, terms


def _terms(side: str, exponent: Tensor, terms: int) -> Iterator[Tensor]:
    """e^{−k·exponent} for k = 1, 2, …, or 1 − that for a rise; the caller may change them."""
    decay = torch.exp(-exponent)
    if side != "rise":
        power = decay.clone()
        for _ in range(terms):
            yield power.clone()
            power.mul_(decay)
        return
    lost, partial = -torch.expm1(-exponent), torch.ones_like(exponent)
    for _ in range(terms):  # 1 − z^k = (1 − z)(1 + z + … + z^{k−1})
        yield partial * lost
        partial.mul_(decay).add_(1)


def _sum_in_slots(values: Tensor, knots: Knots) -> Tensor:
    n_slots = knots.line.shape[-1] + 1
    return values.new_zeros(len(values), n_slots).scatter_add_(-1, knots.slot, values)


def _scan_up(sources: Tensor, gaps: Tensor) -> Tensor:
    return decayed_cumsum(sources, torch.stack(list(_terms("left", gaps, len(sources)))))


def _scan_down(sources: Tensor, gaps: Tensor) -> Tensor:
    # From knot i+1 down to i the gap is that of i+1: flipped, every gap belongs one place later.
    return _scan_up(sources.flip(-1), torch.roll(gaps.flip(-1), 1, dims=-1)).flip(-1)
