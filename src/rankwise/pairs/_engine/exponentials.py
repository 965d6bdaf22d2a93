"""Sums of decaying exponentials Σ e^{−k·rate·|knot − point|} over all pairs, by a decayed scan.

The points are split at every knot: what lies below it decays upwards, what lies above it
decays downwards (:func:`decayed_cumsum`). Every exponent is ≤ 0, so no score can overflow anything.

The sum over points is made first within each slot between two knots, then scanned over the knots;
the way back scans first and then spreads to the points. 1 − e^{−ky} (*rise*) is summed as such: it
is tiny near ties, where a difference of sums would lose it. Across a gap Δ
1 − e^{−k(y+Δ)} = (1 − e^{−ky}) e^{−kΔ} + (1 − e^{−kΔ}), positive terms only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from rankwise.pairs._engine.knots import Knots
from rankwise.pairs.forms import PairForm


def decayed_cumsum(x: Tensor, decay: Tensor) -> Tensor:
    """y along the last dimension, with y_0 = x_0; ``decay`` has the shape of ``x``.

    The line is cut into columns that are scanned side by side, then each column receives what its
    predecessor carries over.
    """
    n = x.shape[-1]
    if n <= 1:
        return x.clone()
    steps = math.isqrt(n - 1) + 1
    columns = -(-n // steps)
    y = _side_by_side(x, steps, columns)
    kept = _side_by_side(decay, steps, columns)
    for step in range(1, steps):
        y[step].addcmul_(kept[step], y[step - 1])
        kept[step].mul_(kept[step - 1])
    carry = y[-1].clone()
    for column in range(1, columns):
        carry[..., column].addcmul_(kept[-1, ..., column], carry[..., column - 1])
    y[..., 1:].addcmul_(kept[..., 1:], carry[..., :-1])
    return y.movedim(0, -1).reshape(*x.shape[:-1], -1)[..., :n]


def _side_by_side(x: Tensor, steps: int, columns: int) -> Tensor:
    """(…, n) → (steps, …, columns), so that one step of all columns is contiguous."""
    padded = torch.nn.functional.pad(x, (0, steps * columns - x.shape[-1]))
    return padded.reshape(*x.shape[:-1], columns, steps).movedim(-1, 0).contiguous()


_pad = torch.nn.functional.pad

_VALUES = 1 << 20  # knots × terms in one scan


def exponentials_at_knots(
    knots: Knots, forms: tuple[PairForm, ...], weight: Tensor, results: list[Tensor]
) -> None:
    """Add Σ over the points of weight · (the exponential part of F) to the results at the knots."""
    rate, gaps = forms[0].rate, knots.gaps
    for side, ks in _terms_of(forms, knots):
        within = weight.new_zeros(len(ks), len(weight), knots.line.shape[-1] + 1)
        for piece in knots.pieces():
            slot, mass = knots.slot[..., piece], weight[..., piece]
            distance = knots.below(piece) if side == "right" else knots.above[..., piece]
            for row, term in zip(within, _terms(side, rate * distance, ks), strict=True):
                row.scatter_add_(-1, slot, term.mul_(mass))
        if side == "right":
            sums = _scan_up(within[..., :-1], rate * gaps, ks)
        else:
            sources = within[..., 1:]
            if side == "rise":
                held = torch.zeros_like(within[0]).scatter_add_(-1, knots.slot, weight)
                mass = held[..., 1:].flip(-1).cumsum(-1).flip(-1)
                for row, term in zip(sources, _terms("rise", rate * gaps, ks), strict=True):
                    row[..., :-1] += (term * mass)[..., 1:]
            sums = _scan_down(sources, rate * gaps, ks)
        for result, form in zip(results, forms, strict=True):
            total = torch.zeros_like(knots.line)
            for k, row in zip(ks, sums, strict=True):
                total.add_(row, alpha=_factor(form, side, k))
            result.add_(knots.from_knots(total)[..., 0, :])


def exponentials_at_points(
    knots: Knots, forms: tuple[PairForm, ...], weight: Tensor, results: list[Tensor]
) -> None:
    """Add Σ over the knots of weight · (the exponential part of F) to the results at the points."""
    rate, gaps = forms[0].rate, knots.gaps
    sources = knots.to_knots(weight, [1.0])

    def spread(side: str, sums: Tensor, ks: range, factors: list[list[float]]) -> None:
        """Add Σ_k factor_k · (the k-th sum at the point's slot) · (its k-th term) to each."""
        for piece in knots.pieces():
            slot = knots.slot[..., piece]
            distance = knots.below(piece) if side == "right" else knots.above[..., piece]
            for i, term in enumerate(_terms(side, rate * distance, ks)):
                term.mul_(sums[i].gather(-1, slot))
                for result, factor in zip(results, factors, strict=True):
                    result[..., piece].add_(term, alpha=factor[i])

    for side, ks in _terms_of(forms, knots):
        factors = [[_factor(form, side, k) for k in ks] for form in forms]
        if side == "right":
            sums = _scan_down(sources.expand(len(ks), -1, -1), rate * gaps, ks)
            spread("right", _pad(sums, (0, 1)), ks, factors)
        elif side == "left":
            sums = _scan_up(sources.expand(len(ks), -1, -1), rate * gaps, ks)
            spread("left", _pad(sums, (1, 0)), ks, factors)
        else:
            mass = sources.cumsum(-1)
            steps = torch.stack(list(_terms("rise", rate * gaps, ks)))
            steps[..., 1:] *= mass[..., :-1]
            steps[..., 0] = 0
            spread("left", _pad(_scan_up(steps, rate * gaps, ks), (1, 0)), ks, factors)
            spread("rise", _pad(mass, (1, 0)).expand(len(ks), -1, -1), ks, factors)


def _terms_of(forms: tuple[PairForm, ...], knots: Knots) -> Iterator[tuple[str, range]]:
    """The kinds of terms the forms have and their k, as many at a time as memory should hold."""
    block = max(1, _VALUES // max(1, knots.line.numel()))
    for side in ("left", "rise", "right"):
        terms = max(len(getattr(form, side)) for form in forms)
        for first in range(1, terms + 1, block):
            yield side, range(first, min(first + block, terms + 1))


def _factor(form: PairForm, side: str, k: int) -> float:
    factors: tuple[float, ...] = getattr(form, side)
    return factors[k - 1] if k <= len(factors) else 0.0


def _terms(side: str, exponent: Tensor, ks: range) -> Iterator[Tensor]:
    """e^{−k·exponent} for every k, or 1 − that for a rise; the caller may change them."""
    decay = torch.exp(-exponent)
    if side != "rise":
        power = decay.clone() if ks.start == 1 else torch.exp(-ks.start * exponent)
        for _ in ks:
            yield power.clone()
            power.mul_(decay)
        return
    lost, partial_sum = -torch.expm1(-exponent), torch.ones_like(exponent)
    for k in range(1, ks.stop):  # 1 − z^k = (1 − z)(1 + z + … + z^{k−1})
        if k in ks:
            yield partial_sum * lost
        partial_sum.mul_(decay).add_(1)


def _scan_up(sources: Tensor, gaps: Tensor, ks: range) -> Tensor:
    return decayed_cumsum(sources, torch.stack(list(_terms("left", gaps, ks))))


def _scan_down(sources: Tensor, gaps: Tensor, ks: range) -> Tensor:
    # From knot i+1 down to i the gap is that of i+1: flipped, every gap belongs one place later.
    return _scan_up(sources.flip(-1), torch.roll(gaps.flip(-1), 1, dims=-1), ks).flip(-1)
