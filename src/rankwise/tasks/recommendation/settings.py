"""What a run of a recommender is asked to do."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral

from rankwise.errors import UsageError
from rankwise.tasks.recommendation.measures import measure_of

__all__ = ["LISTS", "MODELS", "SAMPLING", "SPLITS", "Settings", "UsageError"]

MODELS = ("mf", "two_tower")
SAMPLING = ("uniform", "popularity")
LISTS = ("auto", "user", "interaction")
SPLITS = ("random", "time")


@dataclass(frozen=True)
class Settings:
    """Everything that decides the result, beside the data."""

    objective: str = "softmax"  # a name of rankwise.objective, or softmax, or bpr
    model: str = "mf"  # matrix factorization, or a two-tower network
    dimension: int = 64  # of the vectors whose product is the score
    hidden: tuple[int, ...] = (128,)  # layers of each tower
    lists: str = "auto"  # a list has one of a user's positives (interaction) or all (user)
    batch: int = 1024  # positives of a step, about
    negatives: int = 256  # drawn for a step; 0: the whole catalog
    sampling: str = "uniform"
    correction: bool = True  # weigh what was drawn by 1/(negatives · q): softmax's log q
    epochs: int = 100
    warm_start: int = 20  # most epochs of softmax that come first; 0: none
    patience: int = 5  # epochs without a better metric on validation, after which to stop
    metric: str = "ndcg@10"
    learning_rate: float = 3e-3  # after a warm start a tenth of it
    weight_decay: float = 0.5
    threshold: float | None = None  # rating from which an interaction is a positive; None: all
    split: str = "random"
    validation: float = 0.1
    test: float = 0.2
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden))  # a list, where it was JSON
        object.__setattr__(self, "metric", str(measure_of(self.metric)))
        choices = (("model", MODELS), ("sampling", SAMPLING), ("lists", LISTS), ("split", SPLITS))
        for name, known in choices:
            value = getattr(self, name)
            if value not in known:
                raise UsageError(f"{name} must be one of {', '.join(known)}, got {value!r}")
        for name in ("dimension", "batch", "epochs", "patience"):
            self._require_whole(name, getattr(self, name), 1)
        for name in ("negatives", "warm_start", "seed"):
            self._require_whole(name, getattr(self, name), 0)
        for units in self.hidden:
            self._require_whole("hidden", units, 1)
        if not (math.isfinite(self.learning_rate) and self.learning_rate > 0):
            raise UsageError(
                f"learning_rate must be a finite number > 0, got {self.learning_rate!r}"
            )
        if not (math.isfinite(self.weight_decay) and self.weight_decay >= 0):
            raise UsageError(
                f"weight_decay must be a finite number >= 0, got {self.weight_decay!r}"
            )
        if self.validation <= 0:
            raise UsageError(
                f"validation must be above 0, to choose the epoch by, got {self.validation!r}"
            )

    @staticmethod
    def _require_whole(name: str, value: object, least: int) -> None:
        if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
            raise UsageError(f"{name} must be a whole number >= {least}, got {value!r}")
