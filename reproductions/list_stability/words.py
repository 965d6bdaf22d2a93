"""Sentences on the outcome, each made of the numbers of the run."""

from __future__ import annotations

from reproductions.list_stability.fits import Fit
from reproductions.list_stability.lemma import limits
from reproductions.list_stability.measure import Measured
from reproductions.sentences import share

_PRINTED = "as printed"


def in_short(found: list[Fit]) -> str:
    """Return the answer in one sentence."""
    fits = _predicted(found)
    kept = sum(fit.verdict in ("below", "equal within the interval") for fit in fits)
    return (
        "With more data or more training, one example changes the model no faster than the theory "
        f"allows in {share(kept, len(fits))} measured cases."
    )


def conclusions(measured: Measured, found: list[Fit]) -> list[str]:
    """Return the summary."""
    said = [_theorem(found), _inequalities(measured), _printed(measured), _checks(measured)]
    return [sentence for sentence in said if sentence]


def theorem_words(measured: Measured, found: list[Fit]) -> list[str]:
    """Return what the exponents of N and of T are, and how the other losses compare."""
    said = []
    for axis, meaning in (("N", "the size of the data"), ("T", "the steps"), ("n", "the batch")):
        slopes = [f for f in _predicted(found) if f.axis == axis]
        parts = ", ".join(
            f"{f.slope.value:+.2f} ± {f.slope.half_width():.2f} ({f.distance}, C = {f.scale:g})"
            for f in slopes
        )
        said.append(f"Exponents in {meaning}: {parts}.")
    others = [f for f in found if f.loss != "SOPRC" and f.axis == "N"]
    if others:
        low, high = (pick(f.slope.value for f in others) for pick in (min, max))
        names = ", ".join(dict.fromkeys(f.loss for f in others))
        said.append(f"Other losses ({names}) have exponents of {low:+.2f} to {high:+.2f} in N.")
    return said


def lemma_words(measured: Measured) -> list[str]:
    """Return the bound of Lemma 1 beside what was measured, and whether it says anything."""
    last, least = max(measured.plan.steps), min(measured.plan.n_positives)
    said = []
    for limit in limits(measured):
        if limit.steps == last:
            word = "says nothing: it is" if limit.is_vacuous else "says something: it is not"
            said.append(
                f"C = {limit.scale:g}, N⁺ = {least}, T = {last}: ε⁺ is {limit.distance:.1e}, the "
                f"recurrence with L at distance 0.1 gives {limit.bound:.1e}. The bound {word} more "
                f"than twice the way of the model, {limit.way:.2f}."
            )
    return said


def _predicted(found: list[Fit]) -> list[Fit]:
    return [fit for fit in found if fit.verdict != "–"]


def _theorem(found: list[Fit]) -> str:
    fits = _predicted(found)
    counts = {
        word: sum(fit.verdict == word for fit in fits)
        for word in ("below", "equal within the interval", "above", "not measured")
    }
    said = (
        f"Theorem 2: of {len(fits)} exponents of SOPRC {counts['below']} are below the predicted "
        f"one, {counts['equal within the interval']} equal to it within the interval"
    )
    above = [f for f in fits if f.verdict == "above"]
    if above:
        named = ", ".join(f"{f.distance} in {f.axis}, C = {f.scale:g}" for f in above)
        said += f", {len(above)} above it ({named})"
    if counts["not measured"]:
        said += f", {counts['not measured']} not measured, since a distance was 0"
    return said + "."


def _inequalities(measured: Measured) -> str:
    parts = []
    for assumed, named in ((True, "with ℓ ≥ ℓ₀₁"), (False, "where ℓ is not at least ℓ₀₁")):
        rows = [t for t in measured.tested if t.assumed == assumed and _PRINTED not in t.claim]
        if rows:
            wrong, lists = sum(t.violations for t in rows), sum(t.lists for t in rows)
            parts.append(f"{wrong:,} of {lists:,} {named}")
    return f"Lemmas 3 and 8 and Theorem 1 of StableAP, violations: {'; '.join(parts)}."


def _printed(measured: Measured) -> str:
    rows = [t for t in measured.tested if t.assumed and _PRINTED in t.claim]
    wrong, lists = sum(t.violations for t in rows), sum(t.lists for t in rows)
    return f"With the printed exponent −1/2 Theorem 1 is violated in {wrong:,} of {lists:,} lists."


def _checks(measured: Measured) -> str:
    words: dict[str, list[str]] = {}
    for check in measured.checks:
        words.setdefault(check.verdicts[0].word, []).append(check.objective)
    parts = [f"{word} for {', '.join(names)}" for word, names in words.items()]
    n = measured.plan.sizes[-1]
    return f"Bounded differences of O(1/n), by lists of up to {n:,}: {'; '.join(parts)}."
