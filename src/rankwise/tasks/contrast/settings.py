"""What a run of contrastive training is asked to do."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral

from rankwise.baselines.info_nce import NTXent
from rankwise.errors import UsageError
from rankwise.objectives import Objective
from rankwise.objectives.contrastive import GlobalContrastive
from rankwise.tasks.seeds import require_seed

__all__ = ["OBJECTIVES", "OPTIMIZERS", "Settings", "UsageError"]

OBJECTIVES = ("global_contrastive", "nt_xent")
OPTIMIZERS = ("adamw", "sgd")


@dataclass(frozen=True)
class Settings:
    """Everything that decides the result, beside the data."""

    objective: str = "global_contrastive"
    temperature: float = 0.2
    ema_rate: float = 0.9  # rate of the moving averages; the baseline has none
    batch: int = 64  # images, each of which is seen in two views
    epochs: int = 100
    optimizer: str = "adamw"
    learning_rate: float = 1e-3  # at the start, falling to 0 as a cosine
    weight_decay: float = 1e-4
    width: int = 32  # channels of the first layer
    dimension: int = 64  # of the embedding that is contrasted
    seed: int = 0

    def __post_init__(self) -> None:
        for name, choices in (("objective", OBJECTIVES), ("optimizer", OPTIMIZERS)):
            value = getattr(self, name)
            if value not in choices:
                raise UsageError(f"{name} must be one of {', '.join(choices)}, got {value!r}")
        for name, least in (("batch", 2), ("epochs", 1), ("width", 1), ("dimension", 1)):
            self._require_whole(name, least)
        require_seed("seed", self.seed)
        for name in ("temperature", "learning_rate"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise UsageError(f"{name} must be a finite number > 0, got {value!r}")
        if not (math.isfinite(self.weight_decay) and self.weight_decay >= 0):
            raise UsageError(
                f"weight_decay must be a finite number >= 0, got {self.weight_decay!r}"
            )
        if not 0 < self.ema_rate <= 1:
            raise UsageError(f"ema_rate must be in (0, 1], got {self.ema_rate!r}")

    def _require_whole(self, name: str, least: int) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
            raise UsageError(f"{name} must be a whole number >= {least}, got {value!r}")

    def loss(self, items: int) -> Objective:
        """The loss for a data set of so many images."""
        if self.objective == "nt_xent":
            return NTXent(self.temperature)
        return GlobalContrastive(items, self.temperature, ema_rate=self.ema_rate)
