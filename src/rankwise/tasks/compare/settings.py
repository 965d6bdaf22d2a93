"""What a comparison is asked to do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from rankwise.data import DataError
from rankwise.naming import canonical_metric
from rankwise.tasks.compare.metrics import named

__all__ = ["Settings", "seconds_of"]

_UNITS = {"": 1.0, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Settings:
    """Everything that decides the result, beside the data."""

    data: Path
    target: str | None
    metric: str = "ap"
    group: str | None = None
    time: str | None = None
    positive: str | None = None
    weight: str | None = None
    drop: tuple[str, ...] = ()
    use: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    date_format: str | None = None
    candidates: str = "linear,boosted,neural"
    budget: float = 120.0  # seconds of training, shared evenly by the candidates
    trials: int = 30  # the most that a candidate tries, however much time is left
    repeats: int = 0  # of cross-validation over all rows, in place of one test part
    seeds: int = 1  # fits with different seeds, whose ranks are averaged
    seed: int = 0

    def __post_init__(self) -> None:
        named(self.metric, grouped=self.group is not None)
        object.__setattr__(self, "metric", canonical_metric(self.metric))
        for name in ("trials", "seeds"):
            if getattr(self, name) < 1:
                raise DataError(f"--{name} must be at least 1, got {getattr(self, name)}")
        if self.repeats < 0:
            raise DataError(f"--repeats must be at least 0, got {self.repeats}")
        if self.repeats and self.time is not None:
            raise DataError(
                f"--repeats {self.repeats} cannot go with --time {self.time}: folds of all rows "
                "would learn from the future; leave out one of them"
            )
        if not self.budget > 0:
            raise DataError(f"--budget must be above 0 seconds, got {self.budget:g}")


def seconds_of(words: str) -> float:
    """A span of time such as ``90``, ``90s``, ``2m``, ``1.5h`` or ``1h30m`` in seconds."""
    parts = re.findall(r"([0-9.]+)\s*([a-z]*)\s*", words.strip().lower())
    whole = "".join(number + unit for number, unit in parts)
    try:
        if not parts or whole != re.sub(r"\s", "", words.lower()):
            raise ValueError
        return sum(float(number) * _UNITS[unit] for number, unit in parts)
    except (ValueError, KeyError):
        raise DataError(f"--budget must be a time such as 90s, 2m or 1h, got {words!r}") from None
