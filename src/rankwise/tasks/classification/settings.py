"""What a run of classification is asked to do: one small record for every side of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rankwise.errors import UsageError
from rankwise.tasks.retrieval import settings as retrieval
from rankwise.tasks.retrieval.settings import (
    BACKBONES,
    Optimizer,
    Training,
    Views,
    number,
    one_of,
    whole,
)
from rankwise.tasks.seeds import require_seed

__all__ = [
    "Batches",
    "Data",
    "Network",
    "Objective",
    "Optimizer",
    "Settings",
    "Training",
    "UsageError",
    "Views",
]


@dataclass(frozen=True)
class Data:
    """Where the images are, and what is made of them: a long tail, two classes, three parts."""

    kind: str = "folder"
    root: str = ""
    imbalance: float | None = None  # largest class over smallest; None: classes as they are
    tail_in: str = "all"  # parts that are long-tailed: all, or train
    positive: tuple[str, ...] = ()  # classes against all the others; none: every class for itself
    positive_share: float | None = None  # of the training images, where it is to be made small
    test_share: float | None = None  # of the images of every class; None: 0.1, or as given
    validation_share: float = 0.1  # of the images of every class; 0: none
    seed: int = 0  # of everything drawn there
    max_fpr: float = 0.05  # partial AUC is reported up to this false positive rate

    def __post_init__(self) -> None:
        object.__setattr__(self, "positive", tuple(self.positive))
        one_of("data.tail_in", self.tail_in, ("all", "train"))
        require_seed("data.seed", self.seed)
        if self.imbalance is not None:
            number("data.imbalance", self.imbalance)
            if self.imbalance < 1:
                raise UsageError(f"data.imbalance must be at least 1, got {self.imbalance!r}")
        for name in ("positive_share", "max_fpr", "test_share"):
            value = getattr(self, name)
            if value is not None and not 0 < value < 1:
                raise UsageError(f"data.{name} must be between 0 and 1, got {value!r}")
        if not 0 <= self.validation_share < 1 - (self.test_share or 0.1):
            raise UsageError(
                "data.validation_share must be 0 or a share that leaves images to train on beside "
                f"data.test_share, {self.test_share or 0.1}, got {self.validation_share!r}"
            )


@dataclass(frozen=True)
class Network:
    """A backbone, and a linear layer with one logit by class behind it (one for two classes)."""

    backbone: str = "small"
    weights: str | None = None  # a folder, a name in the hub's cache, a file; None: from scratch
    options: dict[str, Any] = field(default_factory=dict)  # of the backbone's own configuration
    head: str = "auto"  # linear, or cosine of features and class vectors; auto: cosine for ldam
    freeze_batch_norm: bool = False

    def __post_init__(self) -> None:
        one_of("network.backbone", self.backbone, BACKBONES)
        one_of("network.head", self.head, ("auto", "linear", "cosine"))


@dataclass(frozen=True)
class Batches:
    """How many images a step has, and of which classes."""

    size: int = 64
    positives: int | None = None  # of a binary problem: so many in every batch; None: as they come
    per_class: int | None = None  # of several classes: size/per_class classes; None: as they come

    def __post_init__(self) -> None:
        whole("batches.size", self.size, 2)
        for name in ("positives", "per_class"):
            value = getattr(self, name)
            if value is not None:
                whole(f"batches.{name}", value, 1)
                if value >= self.size:
                    raise UsageError(
                        f"batches.{name} must be less than batches.size, {self.size}, got {value}"
                    )
        if self.per_class is not None and self.size % self.per_class:
            raise UsageError(
                f"batches.size must be a multiple of batches.per_class, {self.per_class}, "
                f"got {self.size}"
            )


@dataclass(frozen=True)
class Objective(retrieval.Objective):
    """What is minimized, by its name; a warm start is by cross-entropy."""

    name: str = "stable_ap"


@dataclass(frozen=True)
class Settings:
    """Everything that decides the result, beside the files of the data."""

    data: Data = field(default_factory=Data)
    network: Network = field(default_factory=Network)
    views: Views = field(default_factory=Views)
    batches: Batches = field(default_factory=Batches)
    objective: Objective = field(default_factory=Objective)
    optimizer: Optimizer = field(default_factory=Optimizer)
    training: Training = field(default_factory=Training)

    def __post_init__(self) -> None:
        object.__setattr__(self, "views", self.views.fitting(self.network.backbone))

    @property
    def cosine(self) -> bool:
        """Whether logits are cosines."""
        if self.network.head == "auto":
            return self.objective.short.lower() == "ldam"
        return self.network.head == "cosine"
