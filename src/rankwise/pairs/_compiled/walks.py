"""Sums over all pairs by walks over two sorted sides.

The *targets* receive sums over the *sources*. A falling walk goes from the highest target down and
meets the sources from the highest down; a rising one is its mirror image, with which the same
function sums over the uppers for every lower. Going on to the next target shifts the center of all
that was summed by the gap Δ between the two, then the sources in between are added
(:mod:`rankwise.pairs._engine.powers` and :mod:`~rankwise.pairs._engine.exponentials` have the
formulas). All terms have one sign, exponents are ≤ 0, and a difference is taken before a break is
added to it: what ties in the dense form ties here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankwise._jit import kernel

Numbers = NDArray[np.floating]
Whole = NDArray[np.signedinteger]


@kernel
def add_powers(  # noqa: PLR0917
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
    """Add Σ weight · Σ_b Σ_d jump_{b,d} (b − x)₊^d to the sums of one or two forms.

    ``jumps`` is (breaks, forms, 3), ``sums`` (forms, targets); ``closed`` counts x = b as below b.
    """
    step = -1 if falling else 1
    sign = 1.0 if falling else -1.0
    two = len(sums) == 2
    for row in range(len(target_starts) - 1):
        n_sources = source_starts[row + 1] - source_starts[row]
        n_targets = target_starts[row + 1] - target_starts[row]
        first = target_starts[row + 1] - 1 if falling else target_starts[row]
        first_source = source_starts[row + 1] - 1 if falling else source_starts[row]
        if n_sources == 0 or n_targets == 0:
            continue
        for b in range(len(breaks)):
            edge, jump, other = breaks[b], jumps[b, 0], jumps[b, -1]
            limit = np.nextafter(-edge, -np.inf) if closed else -edge
            m0, m1, m2 = 0.0, 0.0, 0.0
            previous = np.float64(targets[first])
            i, j, left = first, first_source, n_sources
            for _ in range(n_targets):
                x = np.float64(targets[i])
                gap = sign * (previous - x)
                m2 += gap * (2 * m1 + gap * m0)
                m1 += gap * m0
                previous = x
                above = sign * (np.float64(sources[j]) - x)
                while above > limit:
                    y, w = above + edge, weight[j]
                    m0 += w
                    m1 += w * y
                    m2 += w * y * y
                    left -= 1
                    if left == 0:
                        limit = np.inf
                    else:
                        j += step
                        above = sign * (np.float64(sources[j]) - x)
                sums[0, i] += jump[0] * m0 + jump[1] * m1 + jump[2] * m2
                if two:
                    sums[1, i] += other[0] * m0 + other[1] * m1 + other[2] * m2
                i += step


@kernel
def add_decays(  # noqa: PLR0912, PLR0917
    sources: Numbers,
    source_starts: Whole,
    weight: Numbers,
    targets: Numbers,
    target_starts: Whole,
    falling: bool,
    strict: bool,
    rate: float,
    decay: Numbers,
    rise: Numbers,
    sums: Numbers,
) -> None:
    """Add Σ weight · Σ_k (decay_k z^k + rise_k (1 − z^k)), z = e^{−rate·distance}, to the sums.

    The sources are those above the target in a falling walk, below it in a rising one, and those
    that tie with it unless ``strict``. ``decay`` and ``rise`` are (forms, terms).
    """
    step = -1 if falling else 1
    sign = 1.0 if falling else -1.0
    terms, rising_terms = decay.shape[1], rise.shape[1]
    decays, rises = np.empty(terms), np.empty(rising_terms)
    for row in range(len(target_starts) - 1):
        n_sources = source_starts[row + 1] - source_starts[row]
        n_targets = target_starts[row + 1] - target_starts[row]
        first = target_starts[row + 1] - 1 if falling else target_starts[row]
        if n_sources == 0 or n_targets == 0:
            continue
        decays[:], rises[:] = 0, 0
        mass = 0.0
        previous = np.float64(targets[first])
        met, j = 0, source_starts[row + 1] - 1 if falling else source_starts[row]
        for p in range(n_targets):
            i = first + step * p
            x = np.float64(targets[i])
            gap = sign * (previous - x)
            if gap > 0 and met > 0:
                z = np.exp(-rate * gap)
                power = 1.0
                for k in range(terms):
                    power *= z
                    decays[k] *= power
                if rising_terms:
                    lost, partial, power = -np.expm1(-rate * gap), 1.0, 1.0
                    for k in range(rising_terms):  # 1 − z^k = (1 − z)(1 + z + … + z^{k−1})
                        power *= z
                        rises[k] = rises[k] * power + mass * lost * partial
                        partial = partial * z + 1
            previous = x
            while met < n_sources:
                above = sign * (np.float64(sources[j]) - x)
                if not (above > 0 or (above == 0 and not strict)):
                    break
                w = weight[j]
                z = np.exp(-rate * above)
                power = w
                for k in range(terms):
                    power *= z
                    decays[k] += power
                if rising_terms:
                    mass += w
                    lost, partial = -np.expm1(-rate * above) * w, 1.0
                    for k in range(rising_terms):
                        rises[k] += lost * partial
                        partial = partial * z + 1
                met += 1
                j += step
            for f in range(len(sums)):
                total = 0.0
                for k in range(terms):
                    total += decay[f, k] * decays[k]
                for k in range(rising_terms):
                    total += rise[f, k] * rises[k]
                sums[f, i] += total


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

    ``tail`` is (forms, 3), of powers of x about the mean of the sources; ``growth`` is (forms,).
    """
    sign = 1.0 if falling else -1.0
    for row in range(len(target_starts) - 1):
        start, stop = source_starts[row], source_starts[row + 1]
        if start == stop:
            continue
        center, furthest = 0.0, np.float64(sources[start])
        for j in range(start, stop):
            y = np.float64(sources[j])
            center += y / (stop - start)
            furthest = max(furthest, y) if falling else min(furthest, y)
        m0, m1, m2, total = 0.0, 0.0, 0.0, 0.0
        for j in range(start, stop):
            y = np.float64(sources[j]) - center
            m0 += weight[j]
            m1 += weight[j] * y
            m2 += weight[j] * y * y
        if growth.any():
            for j in range(start, stop):
                y = sign * (np.float64(sources[j]) - furthest)
                total += weight[j] * np.exp(rate * y)
        for i in range(target_starts[row], target_starts[row + 1]):
            x = np.float64(targets[i])
            far = np.exp(-rate * sign * (x - furthest)) * total if growth.any() else 0.0
            x -= center
            for f in range(len(sums)):
                sums[f, i] += (
                    tail[f, 0] * m0
                    + tail[f, 1] * sign * (x * m0 - m1)
                    + tail[f, 2] * (x * x * m0 - 2 * x * m1 + m2)
                    + growth[f] * far
                )
