"""What the paper says of Figure 1, checked on the points of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rankwise.report import Table
from reproductions.papk_figure1.measure import Point
from reproductions.sentences import listed, share

ZERO = 1e-3
"""A surrogate that ends at most here has converged to 0."""

Says = Literal["converges to 0", "does not converge to 0", "rises in the later half"]

_VANISH: Says = "converges to 0"
_STAY: Says = "does not converge to 0"
_RISE: Says = "rises in the later half"


@dataclass(frozen=True)
class Claim:
    """A statement of Section 7.2 about one surrogate under one condition."""

    condition: str
    surrogate: str
    says: Says


CLAIMS = (
    *(Claim("strong", name, _VANISH) for name in ("ramp", "avg", "max", "ts")),
    *(Claim("β", name, _VANISH) for name in ("ramp", "avg")),
    *(Claim("β", name, says) for name in ("max", "ts") for says in (_STAY, _RISE)),
    *(Claim("moderate", name, _VANISH) for name in ("ramp", "ts")),
)


@dataclass(frozen=True)
class Checked:
    """A claim with the values it is checked by, for TS by Algorithm 2 and by Eq. 14."""

    claim: Claim
    surrogate: str
    half: float  # the value at the first look of the later half of the descent
    last: float
    end: int  # the step after which nothing moves

    @property
    def holds(self) -> bool:
        """Whether this run shows what the paper says."""
        if self.claim.says == _RISE:
            return self.last > self.half
        return (self.last <= ZERO) == (self.claim.says == _VANISH)


def check(points: Sequence[Point]) -> list[Checked]:
    """Check every claim; those about TS for both of the functions that the paper calls so."""
    found = []
    for claim in CLAIMS:
        for name in ("ts", "ts_eq14") if claim.surrogate == "ts" else (claim.surrogate,):
            curve, end = curve_of(points, claim.condition, name), end_of(points, claim.condition)
            half = curve[min(step for step in curve if step >= end / 2)]
            found.append(Checked(claim, name, half, curve[max(curve)], end))
    return found


def end_of(points: Sequence[Point], condition: str) -> int:
    """The first look after which no value changes: a surrogate of 0 is not descended further."""
    steps = sorted({p.step for p in points if p.condition == condition})
    values = {
        step: {p.watched: p.value for p in points if (p.condition, p.step) == (condition, step)}
        for step in steps
    }
    return next(s for s in steps if all(values[t] == values[steps[-1]] for t in steps if t >= s))


def curve_of(points: Sequence[Point], condition: str, name: str) -> dict[int, float]:
    """The values of a surrogate under a condition, by step."""
    own = [p for p in points if (p.condition, p.watched) == (condition, name)]
    return {p.step: p.value for p in own}


def claims_table(checked: Sequence[Checked]) -> Table:
    """Every claim with its values and whether it was found."""
    rows = [
        (c.claim.condition, c.surrogate, c.claim.says, f"{c.half:.3g}", f"{c.last:.3g}",
         "yes" if c.holds else "no")
        for c in checked
    ]  # fmt: skip
    header = ("condition", "surrogate", "the paper", "half-way", "at the end",
              "found")  # fmt: skip
    caption = (
        f"Converged to 0: at most {ZERO:g} at the end. Rises: higher at the end than half-way. A "
        "descent ends where no value changes any more; half-way is half of these steps. ts is the "
        "TS of Algorithm 2, ts_eq14 that of Eq. 14."
    )
    return Table(header, rows, caption)


def in_short(checked: Sequence[Checked]) -> str:
    """Return the answer in one sentence."""
    held = share(sum(c.holds for c in checked), len(checked))
    return f"The losses behave during training as the paper says in {held} checks."


def outcome(checked: Sequence[Checked]) -> list[str]:
    """How many of the paper's statements were found, and which were not."""
    missing = [f"{c.surrogate} under {c.claim.condition} {c.claim.says}" for c in checked
               if not c.holds]  # fmt: skip
    held = len(checked) - len(missing)
    said = f"Of the paper's statements about Figure 1 this run shows {share(held, len(checked))}"
    said += " (those about TS are counted for both of its functions)."
    if missing:
        said += f" Not found: {listed(missing)}."
    late = []
    for name in ("max", "ts", "ts_eq14"):
        (one,) = (c for c in checked if c.surrogate == name and c.claim.says == _RISE)
        moves = "rises" if one.last > one.half else "falls" if one.last < one.half else "stays"
        late.append(f"{name} {moves} from {one.half:.3g} to {one.last:.3g}")
    end = next(c.end for c in checked if c.claim.says == _RISE)
    moved = f"While avg is descended, until step {end:,}, in the later half of these steps"
    return [said, f"{moved} {listed(late)}."]


def order(points: Sequence[Point]) -> str:
    """How often the paper's order of the surrogates fails at the looks of this run."""
    places = sorted({(p.condition, p.step) for p in points})
    values = {(p.condition, p.step, p.watched): p.value for p in points}
    failed = []
    pairs = (("risk", "ramp"), ("risk", "avg"), ("ramp", "avg"), ("avg", "max"), ("ramp", "max"),
             ("ramp", "ts"), ("ramp", "ts_eq14"), ("risk", "ts_eq14"))  # fmt: skip
    for low, high in pairs:
        over = sum(values[*at, low] > values[*at, high] + 1e-9 for at in places)
        failed.append(f"{low} ≤ {high} at {share(over, len(places))}")
    return (
        "The paper orders risk ≤ ramp ≤ avg ≤ max and ramp ≤ TS (Propositions 3 to 5); risk ≤ avg, "
        "ramp ≤ avg and ramp ≤ Eq. 14 are false in general (see the documentation of pAp@k). Here "
        f"these fail: {'; '.join(failed)} of the points looked at."
    )
