"""In which unit the margins of the top of a list are."""

from __future__ import annotations

from rankwise.objectives._scaled import ScoreScale


def unit_of_margins(form: str, given: ScoreScale | None) -> ScoreScale:
    """The given unit; or the scores' own for a loss of the top alone, and else their spread.

    A loss that asks the mean or the lowest positives to be above the highest negatives can often
    not be satisfied, and a margin in units of the scores is then cheapest where all are equal.
    """
    if given is not None:
        return given
    return 1.0 if form in ("ramp", "soft") else "auto"
