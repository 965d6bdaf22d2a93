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

from rankwise._jit import kernel
from rankwise.pairs._compiled.sort import Numbers, Whole


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
    Without weights every source counts once.
    """
    step = -1 if falling else 1
    sign = 1.0 if falling else -1.0
    two, weighted = len(sums) == 2, len(weight) > 0
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
                    y, w = above + edge, weight[j] if weighted else 1.0
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
    terms, rising_terms, weighted = decay.shape[1], rise.shape[1], len(weight) > 0
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
                w = weight[j] if weighted else 1.0
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
