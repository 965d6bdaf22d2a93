"""What the report says of the biases and of the interpolation, from their numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankwise.theory import ESTIMATORS, loglog_slope
from reproductions.estimator_bias.measure import Measured, Verdict
from reproductions.sentences import share


def levels(measured: Measured, checked: Sequence[Verdict]) -> dict[str, dict[str, float]]:
    """Mean over the cases of the largest |bias|, and the mean deviation of a draw, by estimator."""
    rows = [row for biases in measured.biases.values() for row in biases]
    return {
        "largest": {e: _mean([v.largest[e] for v in checked]) for e in ESTIMATORS},
        "spread": {e: _mean([r.spread for r in rows if r.estimator == e]) for e in ESTIMATORS},
    }


def claim_words(checked: Sequence[Verdict]) -> str:
    """In how many cases the claim holds."""
    found = [v.holds for v in checked]
    return (
        "An unusual share of positives in a batch distorts the usual estimate of average precision "
        "at least five times as much as SOPRC's, and in the direction that the paper says, in "
        f"{found.count('yes')} of {len(found)} cases; {found.count('open')} are undecided and "
        f"{found.count('no')} against it."
    )


def conclusion(measured: Measured, checked: Sequence[Verdict]) -> str:
    """In how many cases the claim holds, and what the prior and v each take away of the bias."""
    found, level = [v.holds for v in checked], levels(measured, checked)
    return (
        "The claim is that the bias of batch AP has the sign of π − π₀ at every rate, and that of "
        "SOPRC is at most one fifth of it wherever π₀ is not π. It holds in "
        f"{found.count('yes')} of {len(found)} cases; {found.count('open')} are open "
        "(above one fifth by less than three standard errors: more draws would tell), "
        f"{found.count('no')} speak against it. The largest |bias| of a case is on average "
        f"{_each(level['largest'])}; the standard deviation of a draw is {_each(level['spread'])}."
    )


def restored(measured: Measured) -> str:
    """Whether chords and φ keep their bounds, and how far E[φ] is from the quantiles."""
    errors = [e for found in measured.by_count.values() for e in found]
    curved = [e for e in errors if e.bound > 1e-12]
    kept = sum(e.chords <= e.bound * (1 + 1e-6) for e in curved)
    twice = sum(e.phi <= 2 * e.bound * (1 + 1e-6) for e in curved)
    slopes = [
        loglog_slope([e.n for e in found], [e.expected for e in found])
        for found in measured.by_count.values()
        if len(found) > 1
    ]
    most = max(e.expected / e.single for e in errors)
    order = ""
    if slopes and not any(math.isnan(slope) for slope in slopes):
        order = (
            f"The error of E[φ] has slopes {min(slopes):+.2f} to {max(slopes):+.2f} in n⁺ (−1 is "
            "1/n⁺, −2 is 1/(n⁺)²), and"
        )
    return (
        f"Where the bound is above 0, chords are within it in {share(kept, len(curved))} cases, "
        f"and φ within twice the bound in {share(twice, len(curved))}. {order or 'E[φ]'} is at "
        f"most {most:.2g} of the error of one batch."
    )


def _each(values: dict[str, float]) -> str:
    return ", ".join(f"{value:.3f} for {name}" for name, value in values.items())


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
