"""Sums of polynomials of any degree over all pairs, by a walk or without an order.

The sums of powers beyond x² that truncated powers need, with their moments in an array; those of a
lower degree are in registers (:func:`rankwise.pairs._compiled.walks.add_powers`).
"""

from __future__ import annotations

import numpy as np

from rankwise._jit import kernel
from rankwise.pairs._compiled.sort import Numbers, Whole


@kernel
def add_high_powers(  # noqa: PLR0917
    sources: Numbers,
    source_starts: Whole,
    weight: Numbers,
    targets: Numbers,
    target_starts: Whole,
    falling: bool,
    breaks: Numbers,
    jumps: Numbers,
    closed: bool,
    sums: Numbers,
) -> None:
    """Add Σ weight · Σ_b Σ_d jump_{b,d} (b − x)₊^d to the sums, for any number of powers.

    ``jumps`` is (breaks, forms, powers), ``sums`` (forms, targets); everything else as in
    ``add_powers``.
    """
    step = -1 if falling else 1
    sign = 1.0 if falling else -1.0
    weighted, highest = len(weight) > 0, jumps.shape[2] - 1
    moments = np.empty(highest + 1)
    for row in range(len(target_starts) - 1):
        n_sources = source_starts[row + 1] - source_starts[row]
        n_targets = target_starts[row + 1] - target_starts[row]
        first = target_starts[row + 1] - 1 if falling else target_starts[row]
        if n_sources == 0 or n_targets == 0:
            continue
        for b in range(len(breaks)):
            edge = breaks[b]
            limit = np.nextafter(-edge, -np.inf) if closed else -edge
            moments[:] = 0
            previous = np.float64(targets[first])
            i, left = first, n_sources
            j = source_starts[row + 1] - 1 if falling else source_starts[row]
            for _ in range(n_targets):
                x = np.float64(targets[i])
                gap = sign * (previous - x)
                previous = x
                # S_d(θ−Δ) = Σ_e C(d,e) Δ^{d−e} S_e(θ), by the rows of Pascal's triangle.
                for last in range(highest - 1, -1, -1):
                    for d in range(last, highest):
                        moments[d + 1] += gap * moments[d]
                above = sign * (np.float64(sources[j]) - x)
                while above > limit:
                    power = weight[j] if weighted else 1.0
                    for d in range(highest + 1):
                        moments[d] += power
                        power *= above + edge
                    left -= 1
                    if left == 0:
                        limit = np.inf
                    else:
                        j += step
                        above = sign * (np.float64(sources[j]) - x)
                for f in range(len(sums)):
                    for d in range(highest + 1):
                        sums[f, i] += jumps[b, f, d] * moments[d]
                i += step


@kernel
def add_separable(  # noqa: PLR0917
    sources: Numbers,
    source_starts: Whole,
    weight: Numbers,
    targets: Numbers,
    target_starts: Whole,
    falling: bool,
    tail: Numbers,
    growth: Numbers,
    rate: float,
    sums: Numbers,
) -> None:
    """Add Σ weight · (Σ_d tail_d x^d + growth · e^{−rate·x}), which needs no order, to the sums.

    ``tail`` is (forms, powers); ``growth`` is (forms,). With y = source − center, the sum over the
    sources is a polynomial in target − center, whose factors are moments of −y.
    """
    sign = 1.0 if falling else -1.0
    weighted, grows, powers = len(weight) > 0, bool(growth.any()), tail.shape[1]
    moments, factors = np.empty(powers), np.empty_like(tail)
    for row in range(len(target_starts) - 1):
        start, stop = source_starts[row], source_starts[row + 1]
        if start == stop:
            continue
        center, furthest = 0.0, np.float64(sources[start])
        for j in range(start, stop):
            y = np.float64(sources[j])
            center += y / (stop - start)
            furthest = max(furthest, y) if falling else min(furthest, y)
        moments[:], total = 0, 0.0
        for j in range(start, stop):
            w = weight[j] if weighted else 1.0
            if grows:
                total += w * np.exp(rate * sign * (np.float64(sources[j]) - furthest))
            for d in range(powers):
                moments[d] += w
                w *= center - np.float64(sources[j])
        for f in range(len(tail)):
            for e in range(powers):  # the factor of (target − center)^e
                factors[f, e], binomial = 0.0, 1.0
                for d in range(e, powers):
                    part = binomial * tail[f, d] * moments[d - e]
                    factors[f, e] += part if falling or d % 2 == 0 else -part
                    binomial *= (d + 1) / (d + 1 - e)
        for i in range(target_starts[row], target_starts[row + 1]):
            x = np.float64(targets[i])
            far = np.exp(-rate * sign * (x - furthest)) * total if grows else 0.0
            x -= center
            for f in range(len(sums)):
                value = 0.0
                for e in range(powers - 1, -1, -1):
                    value = value * x + factors[f, e]
                sums[f, i] += value + growth[f] * far
