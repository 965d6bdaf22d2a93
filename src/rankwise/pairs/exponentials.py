"""Sums of decaying exponentials Σ e^{−k·rate·|knot − point|} over all pairs, by a decayed scan.

The points are taken apart at every knot: what lies below it decays upwards, what lies above it
decays downwards (:mod:`scan`). Every exponent is ≤ 0, so no score can overflow anything.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from rankwise.pairs.forms import PairForm
from rankwise.pairs.knots import Knots
from rankwise.pairs.scan import decayed_cumsum

__all__ = ["exponentials_at_knots", "exponentials_at_points"]


def exponentials_at_knots(
    knots: Knots, forms: tuple[PairForm, ...], weight: Tensor
) -> list[Tensor]:
    """For every knot, Σ over the points of weight · (the exponential part of F), for each form."""
    rate = forms[0].rate
    terms = _terms(forms)
    n_knots = knots.line.shape[-1]
    gaps = torch.exp(-rate * knots.gaps)
    results = [torch.zeros_like(knots.line) for _ in forms]

    if any(form.left or form.rise for form in forms):  # points above a knot: x < 0
        near = torch.exp(-rate * knots.above)
        sums = _scan_down(_by_slot(weight, near, knots.slot, n_knots + 1, terms)[..., 1:], gaps)
        for result, form in zip(results, forms, strict=True):
            _accumulate(result, form.left, sums)
    if any(form.rise for form in forms):
        sums = _risen_at_knots(knots, weight, rate, terms)
        for result, form in zip(results, forms, strict=True):
            _accumulate(result, form.rise, sums)
    if any(form.right for form in forms):  # points at or below a knot: x ≥ 0
        near = torch.exp(-rate * knots.below())
        sums = _scan_up(_by_slot(weight, near, knots.slot, n_knots + 1, terms)[..., :-1], gaps)
        for result, form in zip(results, forms, strict=True):
            _accumulate(result, form.right, sums)
    return [knots.from_knots(result)[..., 0, :] for result in results]


def exponentials_at_points(
    knots: Knots, forms: tuple[PairForm, ...], weight: Tensor
) -> list[Tensor]:
    """For every point, Σ over the knots of weight · (the exponential part of F), for each form."""
    rate = forms[0].rate
    terms = _terms(forms)
    gaps = torch.exp(-rate * knots.gaps)
    sources = knots.to_knots(weight, [1.0]).expand(terms, *knots.line.shape)
    results = [torch.zeros_like(knots.above) for _ in forms]

    if any(form.left for form in forms):
        sums = torch.nn.functional.pad(_scan_up(sources, gaps), (1, 0))
        near = torch.exp(-rate * knots.above)
        _spread(results, [form.left for form in forms], sums, knots.slot, near)
    if any(form.rise for form in forms):
        _rise_to_points(knots, results, [form.rise for form in forms], sources, rate)
    if any(form.right for form in forms):
        sums = torch.nn.functional.pad(_scan_down(sources, gaps), (0, 1))
        near = torch.exp(-rate * knots.below())
        _spread(results, [form.right for form in forms], sums, knots.slot, near)
    return results


def _terms(forms: tuple[PairForm, ...]) -> int:
    return max(max(len(form.right), len(form.left), len(form.rise)) for form in forms)


def _powers(base: Tensor, terms: int) -> Iterator[Tensor]:
    """base, base², …"""
    power = base
    for k in range(terms):
        power = power if k == 0 else power * base
        yield power


def _all_powers(base: Tensor, terms: int) -> Tensor:
    return torch.stack(list(_powers(base, terms)))


def _geometric(ratio: Tensor, missing: Tensor, terms: int) -> Iterator[Tensor]:
    """1 − ratio^k for k = 1, 2, …, from ``missing`` = 1 − ratio, without its cancellation."""
    total = torch.ones_like(ratio)
    for k in range(terms):
        total = total if k == 0 else total * ratio + 1
        yield total * missing


def _by_slot(weight: Tensor, near: Tensor, slot: Tensor, n_slots: int, terms: int) -> Tensor:
    """Σ of weight · near^k over the points of every slot: (terms, rows, n_slots)."""
    sums = weight.new_zeros(terms, *weight.shape[:-1], n_slots)
    for k, power in enumerate(_powers(near, terms)):
        sums[k].scatter_add_(-1, slot, weight * power)
    return sums


def _scan_up(sources: Tensor, gaps: Tensor) -> Tensor:
    return decayed_cumsum(sources, _all_powers(gaps, len(sources)))


def _scan_down(sources: Tensor, gaps: Tensor) -> Tensor:
    # From knot i+1 down to i the gap is that of i+1: flipped, every gap belongs one place later.
    flipped = torch.roll(gaps.flip(-1), 1, dims=-1)
    return decayed_cumsum(sources.flip(-1), _all_powers(flipped, len(sources))).flip(-1)


def _accumulate(result: Tensor, factors: tuple[float, ...], sums: Tensor) -> None:
    for k, factor in enumerate(factors):
        result.add_(sums[k], alpha=factor)


def _spread(
    results: list[Tensor],
    factors: list[tuple[float, ...]],
    sums: Tensor,
    slot: Tensor,
    near: Tensor,
) -> None:
    """Add Σ_k factor_k · near^k · (the k-th sum at the point's slot) to each result."""
    for k, power in enumerate(_powers(near, len(sums))):
        term = sums[k].gather(-1, slot).mul_(power)
        for result, factor in zip(results, factors, strict=True):
            if k < len(factor):
                result.add_(term, alpha=factor[k])


def _risen_at_knots(knots: Knots, weight: Tensor, rate: float, terms: int) -> Tensor:
    """Σ_{p > θ} w (1 − e^{−k·rate·(p − θ)}) at every knot: (terms, rows, n_knots).

    Across a gap Δ, 1 − e^{−k(y+Δ)} = (1 − e^{−ky}) e^{−kΔ} + (1 − e^{−kΔ}): positive terms only, so
    near ties, where 1 − e^{−ky} is tiny, it keeps its relative precision.
    """
    n_slots = knots.line.shape[-1] + 1
    mass = weight.new_zeros(*weight.shape[:-1], n_slots).scatter_add_(-1, knots.slot, weight)
    mass_above = mass[..., 1:].flip(-1).cumsum(-1).flip(-1)
    within = weight.new_zeros(terms, *weight.shape[:-1], n_slots)
    lost = -torch.expm1(-rate * knots.above)
    for k, risen in enumerate(_geometric(1 - lost, lost, terms)):
        within[k].scatter_add_(-1, knots.slot, weight * risen)
    sources = within[..., 1:].clone()
    lost = -torch.expm1(-rate * knots.gaps)
    for k, risen in enumerate(_geometric(1 - lost, lost, terms)):
        sources[k, ..., :-1] += (risen * mass_above)[..., 1:]
    return _scan_down(sources, 1 - lost)


def _rise_to_points(
    knots: Knots,
    results: list[Tensor],
    factors: list[tuple[float, ...]],
    sources: Tensor,
    rate: float,
) -> None:
    """Add Σ_k factor_k Σ_{θ < p} w (1 − e^{−k·rate·(p − θ)}) at every point to each result."""
    terms = len(sources)
    mass = sources[0].cumsum(-1)
    steps = torch.zeros_like(sources)
    lost = -torch.expm1(-rate * knots.gaps)
    for k, risen in enumerate(_geometric(1 - lost, lost, terms)):
        steps[k, ..., 1:] = risen[..., 1:] * mass[..., :-1]
    sums = torch.nn.functional.pad(_scan_up(steps, 1 - lost), (1, 0))
    _spread(results, factors, sums, knots.slot, torch.exp(-rate * knots.above))
    mass_below = torch.nn.functional.pad(mass, (1, 0)).gather(-1, knots.slot)
    lost = -torch.expm1(-rate * knots.above)
    for k, risen in enumerate(_geometric(1 - lost, lost, terms)):
        for result, factor in zip(results, factors, strict=True):
            if k < len(factor):
                result.add_(risen * mass_below, alpha=factor[k])
