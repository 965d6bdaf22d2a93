"""What a training came to, compared with where it started, in one sentence and what to try."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwise.report import Headline


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
    """``text`` says how the result compares with the start; ``advice`` is empty if it is better.

    ``sentence`` says the same without the words of the field: what comes of it for a user.
    """

    text: str
    advice: tuple[str, ...] = ()
    sentence: str = ""

    def lines(self) -> list[str]:
        """Return the lines of the console."""
        said = [self.sentence, self.text] if self.sentence else [self.text]
        first, *rest = said
        return [f"verdict: {first}", *rest, *(f"  try: {one}" for one in self.advice)]

    def headline(self) -> Headline:
        """Return the card at the top of the report."""
        text = f"{self.text[:1].upper()}{self.text[1:]}"
        tries = [f"What to try: {'; '.join(self.advice)}."] if self.advice else []
        if not self.sentence:
            return Headline(f"{text}.", tries)
        return Headline(self.sentence, [f"{text}.", *tries])


Floats = NDArray[np.float64]


def counted(words: str, before: Floats, after: Floats, than: str) -> str:
    """Return a sentence on how many cases succeed, and whether the change may be chance.

    Args:
        words: The sentence, with ``{count}`` and ``{total}``.
        before, after: Whether each case succeeds, or how likely; the same cases in both.
        than: What ``before`` is, after "more than".
    """
    change = after - before
    more = round(float(change.sum()))
    than = (
        f"{abs(more):,} {'more' if more > 0 else 'fewer'} than {than}"
        if more
        else f"as many as {than}"
    )
    said = words.format(count=f"{round(float(after.sum())):,}", total=f"{len(after):,}")
    return f"{said}, {than}{may_be_chance(change) if more else ''}."


def may_be_chance(change: Floats) -> str:
    """Return the words for paired differences in [−1, 1] that may be chance, at 5 %.

    McNemar's test (1947), with the correction for continuity.
    """
    chance = abs(change.sum()) - 1 <= 1.96 * math.sqrt(float((change**2).sum()))
    return "; the difference may be chance" if chance else ""


class Record(NamedTuple):
    """Numbers of cases that are better, equal up to rounding, and worse."""

    won: int
    equal: int
    lost: int

    @classmethod
    def of(cls, change: Floats) -> Record:
        """Count differences; those that are NaN are none of the three."""
        signs = np.sign(np.round(change[~np.isnan(change)], 12))
        return cls(*(int((signs == sign).sum()) for sign in (1, 0, -1)))

    @property
    def total(self) -> int:
        """All cases."""
        return sum(self)

    @property
    def chance(self) -> str:
        """The words for a record that may be chance."""
        return may_be_chance(np.repeat([1.0, 0.0, -1.0], self)) if self.won != self.lost else ""


def verdict(
    metric: str,
    *,
    part: str = "test",
    test: tuple[float, float] | None = None,
    reach: float = math.nan,
    validation: Validation | None = None,
    advice: Sequence[str] = (),
    sentence: str = "",
) -> Verdict:
    """Compare a training with its start.

    Args:
        metric: name of the metric, of which more is better.
        part: what ``test`` was measured on.
        test: the value there before training, and of what is saved.
        reach: half of the 95 % interval of their difference, NaN where it is not known.
        validation: its values on the validation part; None where there is none.
        advice: what to try where the result is not above the start.
        sentence: what comes of it for a user.

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
                f"no better than before training: {was} and at most {best:.4f} after it; the "
                "saved model is the untrained one"
            )
            return Verdict(text, tuple(advice), sentence)
        if last < start:
            text = (
                f"the training ends below its start: {was} and {last:.4f} at its end; the "
                f"saved model is that of {validation.unit} {validation.kept}, the best with "
                f"{best:.4f}"
            )
            return Verdict("; ".join(filter(None, (text, went))), tuple(advice), sentence)
        if test is None:
            test, went = (start, best), _went(f"validation {metric}", start, best)
    if test is None:
        return Verdict(f"not known: {metric} was not measured before training", (), sentence)
    before, after = test
    if after > before:
        return Verdict(f"better than before training: {went}", (), sentence)
    how = "worse" if after < before else "no better"
    return Verdict(f"{how} than before training: {went}", tuple(advice), sentence)


def _went(metric: str, before: float, after: float, reach: float = math.nan) -> str:
    text = f"{metric} went from {before:.4f} to {after:.4f}"
    if not math.isfinite(reach):
        return text
    chance = ", no more than chance" if abs(after - before) <= reach else ""
    return f"{text} (difference {after - before:+.4f} ± {reach:.4f}{chance})"


def lower_rate(setting: str, rate: float) -> str:
    """Return the advice that comes first wherever a rate is set."""
    return f"a lower learning rate, {setting}={rate / 10:g} (it was {rate:g})"
