"""What a training came to, compared with where it started, in one sentence and what to try."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rankwise.report import Section


@dataclass(frozen=True)
class Validation:
    """A metric on the validation part: before training, and after it at every look.

    ``kept`` is when the state that is saved was reached, in ``unit``s; 0 is before training.
    """

    start: float
    values: Sequence[float]
    kept: int
    unit: str = "step"


@dataclass(frozen=True)
class Verdict:
    """``text`` says how the result compares with the start; ``advice`` is empty if it is better."""

    text: str
    advice: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the lines of the console."""
        return [f"verdict: {self.text}", *(f"  try: {one}" for one in self.advice)]

    def section(self) -> Section:
        """Return the section of the report."""
        tries = [f"What to try: {'; '.join(self.advice)}."] if self.advice else []
        return Section("Verdict", [self.text, *tries])


def verdict(
    metric: str,
    *,
    part: str = "test",
    test: tuple[float, float] | None = None,
    reach: float = math.nan,
    validation: Validation | None = None,
    advice: Sequence[str] = (),
) -> Verdict:
    """Compare a training with its start.

    Args:
        metric: name of the metric, of which more is better.
        part: what ``test`` was measured on.
        test: the value there before training, and of what is saved.
        reach: half of the 95 % interval of their difference, NaN where it is not known.
        validation: its values on the validation part; None where there is none.
        advice: what to try where the result is not above the start.

    Returns:
        The verdict: below the start if the saved state is the start itself, if it tests lower than
        the start, or if the last validation is below the start.
    """
    if test is not None and not all(map(math.isfinite, test)):
        test = None
    went = "" if test is None else _went(f"{part} {metric}", *test, reach)
    if validation is not None and math.isfinite(validation.start):
        start, last = validation.start, validation.values[-1]
        best = max((v for v in validation.values if not math.isnan(v)), default=math.nan)
        was = f"validation {metric} was {start:.4f} before training"
        if validation.kept == 0:
            text = (
                f"no better than the start: {was} and at most {best:.4f} after it; what is "
                "saved is the start, before any training"
            )
            return Verdict(text, tuple(advice))
        if last < start:
            text = (
                f"the training ends below its start: {was} and {last:.4f} at its end; what is "
                f"saved is {validation.unit} {validation.kept}, the best with {best:.4f}"
            )
            return Verdict("; ".join(filter(None, (text, went))), tuple(advice))
        if test is None:
            test, went = (start, best), _went(f"validation {metric}", start, best)
    if test is None:
        return Verdict(f"not known: {metric} was not measured before training")
    before, after = test
    if after > before:
        return Verdict(f"better than the start: {went}")
    how = "worse" if after < before else "no better"
    return Verdict(f"{how} than the start: {went}", tuple(advice))


def _went(metric: str, before: float, after: float, reach: float = math.nan) -> str:
    text = f"{metric} went from {before:.4f} to {after:.4f}"
    if not math.isfinite(reach):
        return text
    chance = ", no more than chance" if abs(after - before) <= reach else ""
    return f"{text} (difference {after - before:+.4f} ± {reach:.4f}{chance})"


def lower_rate(setting: str, rate: float) -> str:
    """Return the advice that comes first wherever a rate is set."""
    return f"a lower learning rate, {setting}={rate / 10:g} (it was {rate:g})"
