"""What reports say of the numbers of a run, so that no report says it in advance."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankwise.theory import Mean


def standing(mean: Mean) -> str:
    """Where a mean difference stands: higher or lower by more than its interval, or level."""
    half = mean.half_width()
    if math.isnan(half):
        return "not known to differ (one run)"
    if abs(mean.value) <= half:
        return "level"
    return "higher" if mean.value > 0 else "lower"


def difference(mean: Mean, digits: int = 3) -> str:
    """Write a mean difference ± half of its 95 % interval; without one where there is none."""
    half = mean.half_width()
    value = f"{mean.value:+.{digits}f}"
    return value if math.isnan(half) else f"{value} ± {half:.{digits}f}"


def listed(words: Sequence[str], nothing: str = "none") -> str:
    """Join words as a list: "a, b and c"."""
    if len(words) < 2:
        return words[0] if words else nothing
    return f"{', '.join(words[:-1])} and {words[-1]}"


def share(count: int, total: int) -> str:
    """Write "all 4", "both", "none of 4" or "3 of 4"."""
    if total and count == total:
        return "both" if total == 2 else f"all {total}"
    return f"{'none' if count == 0 else count} of {total}"
