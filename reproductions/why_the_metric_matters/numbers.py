"""Numbers as exact fractions, and the printed ones beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from reproductions.why_the_metric_matters.example import Example, Printed

_LARGEST = 5000  # denominators; an irrational number is this close to none of them


def exact(value: float) -> Fraction | None:
    """Return the fraction that a value is; None if it is none with a small denominator."""
    near = Fraction(value).limit_denominator(_LARGEST)
    return near if abs(float(near) - value) < 1e-13 else None


def shown(value: float | None) -> str:
    """Write a value exactly where it is a fraction, else to five digits."""
    if value is None:
        return "–"
    fraction = exact(value)
    return f"{value:.5f}" if fraction is None else str(fraction)


@dataclass(frozen=True)
class Check:
    """A printed number beside the exact one."""

    example: Example
    printed: Printed
    value: float

    @property
    def digits(self) -> int | None:
        """The decimals that are printed; None for a fraction or a whole number."""
        _, point, after = self.printed.text.partition(".")
        return len(after) if point else None

    @property
    def rounded(self) -> str:
        """The exact number with as many decimals as are printed."""
        if self.digits is None:
            return shown(self.value)
        return f"{float(round(self._fraction, self.digits)):.{self.digits}f}"

    @property
    def verdict(self) -> str:
        """How the printed number stands to the exact one."""
        text = self.printed.text
        if Fraction(text) == self._fraction:
            return "exact"
        if self.digits is not None:
            if text == self.rounded:
                return "rounded"
            cut = int(self._fraction * 10**self.digits) / 10**self.digits
            if text == f"{cut:.{self.digits}f}":
                return f"cut off; rounded it is {self.rounded}"
        return f"differs; it is {self.rounded}"

    @property
    def right(self) -> bool:
        """Whether the printed number is the exact or the rounded one."""
        return self.verdict in ("exact", "rounded")

    @property
    def _fraction(self) -> Fraction:
        return exact(self.value) or Fraction(self.value)


def checks(example: Example, values: Mapping[str, Mapping[str, float]]) -> list[Check]:
    """Put every number that is printed of an example beside ours."""
    return [Check(example, each, values[each.metric][each.ranking]) for each in example.printed]
