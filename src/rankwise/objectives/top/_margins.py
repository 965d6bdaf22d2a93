"""In which unit the margins of the top of a list are."""

from __future__ import annotations

from rankwise.objectives._scaled import ScoreScale


def unit_of_margins(form: str) -> ScoreScale:
    """The scores' own for a loss that looks at the top alone, and else their spread.

    A loss that asks the mean or the lowest positives to be above the highest negatives can often
    not be satisfied, and a margin in units of the scores is then cheapest where all are equal.
    """
    return 1.0 if form in ("ramp", "soft") else "auto"
