"""Rules of a threshold as strings: a limit on a rate, and the confidence that it must hold with."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rankwise.checks import require_positive

RULES = (
    "'precision>=0.9', 'recall>=0.9', 'fpr<=0.05', 'alerts<=200/day', 'alerts<=200/10000' (rows), "
    "each also with a confidence such as 'precision>=0.9@95%', or 'f1'"
)
_NUMBER = r"[0-9.]+(?:e[+-]?[0-9]+)?"
_LIMIT = re.compile(
    rf"(?:(precision|recall|tpr)\s*>=|(fpr|alerts)\s*<=)\s*({_NUMBER})"
    rf"(?:\s*/\s*(day|{_NUMBER})(?:\s*rows)?)?(?:\s*@\s*({_NUMBER})\s*(%?))?"
)


@dataclass(frozen=True)
class Limit:
    """A rule of a kind (f1, precision, recall, fpr, alerts) with its number."""

    kind: str
    value: float = 0.0
    confidence: float | None = None  # None: it holds on the rows that choose the threshold
    rows: float | None = None  # of which ``value`` may be alerts; None: the rows of a day

    def __str__(self) -> str:
        """Return the rule as a caller writes it."""
        if self.kind == "f1":
            return "f1"
        sign = ">=" if self.kind in ("precision", "recall") else "<="
        per = ""
        if self.kind == "alerts":
            per = "/day" if self.rows is None else f"/{self.rows:g}"
        sure = "" if self.confidence is None else f"@{100 * self.confidence:g}%"
        return f"{self.kind}{sign}{self.value:g}{per}{sure}"

    def share(self, rows_per_day: float | None) -> float:
        """Return the share of all rows that may be alerts."""
        rows = rows_per_day if self.rows is None else self.rows
        if rows is None:
            raise ValueError(
                f"rule 'alerts<={self.value:g}/day' needs the number of rows per day: pass "
                f"rows_per_day, or write 'alerts<={self.value:g}/10000' for that number in "
                "10 000 rows"
            )
        require_positive("rows_per_day", rows)
        return min(1.0, self.value / rows)


def parse_limit(text: str) -> Limit | None:
    """Parse a rule; None where it is not one, and a ValueError for a number out of its range."""
    words = text.strip().lower()
    if words == "f1":
        return Limit("f1")
    found = _LIMIT.fullmatch(words)
    if found is None or (found[2] == "alerts") != (found[4] is not None):
        return None
    kind = (found[1] or found[2]).replace("tpr", "recall")
    try:
        value = float(found[3])
        rows = None if found[4] in (None, "day") else float(found[4])
        confidence = None if found[5] is None else float(found[5]) / (100 if found[6] else 1)
    except ValueError:
        return None
    if confidence is not None and not 0.5 <= confidence < 1:
        raise ValueError(f"confidence of rule {text!r} must be in [0.5, 1), such as @95%")
    if kind == "alerts":
        if rows is not None and not rows > 0:
            raise ValueError(f"rule {text!r} must have a number of rows above 0")
        return Limit(kind, value, confidence, rows)
    if not 0 <= value <= 1:
        raise ValueError(f"rule {text!r} must have a number in [0, 1]")
    if confidence is not None and not 0 < value < 1:
        raise ValueError(
            f"rule {text!r} must have a number between 0 and 1: no number of rows shows a rate of "
            "exactly 0 or 1"
        )
    return Limit(kind, value, confidence, rows)


def require_limit(text: str) -> Limit:
    """Parse a rule; a ValueError names those that are allowed."""
    found = parse_limit(text) if isinstance(text, str) else None
    if found is None:
        raise ValueError(f"rule must be one of {RULES}; got {text!r}")
    return found
