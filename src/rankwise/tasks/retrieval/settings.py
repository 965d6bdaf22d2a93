"""What a run of image retrieval is asked to do: one small record for every side of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any

from rankwise.errors import UsageError
from rankwise.tasks.seeds import require_seed
from rankwise.training.devices import PRECISIONS

__all__ = [
    "BACKBONES",
    "Batches",
    "Data",
    "Memory",
    "Mixup",
    "Network",
    "Objective",
    "Optimizer",
    "Settings",
    "Training",
    "UsageError",
    "Views",
]

BACKBONES = ("small", "resnet", "convnext", "vit", "dinov2", "mobilenet_v2")
_RESIZE = {"small": 64}  # the others were trained on crops of 224


@dataclass(frozen=True)
class Data:
    """Where the images are, and how they are divided."""

    kind: str = "folder"
    root: str = ""
    trainval: bool = False  # train on the validation classes as well
    test_share: float | None = None  # folder, csv: of classes or images; None: 0.2, or as given
    validation_share: float = 0.1  # of the classes or images that are not test
    split: str | None = None  # folder, csv: by classes or images; None: by classes if enough
    seed: int = 0  # of the division
    hits: tuple[int, ...] = (1, 10, 100)  # Recall@k is reported for these k

    def __post_init__(self) -> None:
        require_seed("data.seed", self.seed)
        object.__setattr__(self, "hits", tuple(self.hits))
        for k in self.hits:
            whole("data.hits", k, 1)
        for name in ("test_share", "validation_share"):
            value = getattr(self, name)
            if value is not None and not 0 < value < 1:
                raise UsageError(f"data.{name} must be between 0 and 1, got {value!r}")
        if self.split is not None:
            one_of("data.split", self.split, ("classes", "images"))


@dataclass(frozen=True)
class Network:
    """A backbone, and the linear projection behind it."""

    backbone: str = "small"
    weights: str | None = None  # a folder, a name in the hub's cache, a file; None: from scratch
    options: dict[str, Any] = field(default_factory=dict)  # of the backbone's own configuration
    dimension: int = 512
    freeze_batch_norm: bool = False

    def __post_init__(self) -> None:
        one_of("network.backbone", self.backbone, BACKBONES)
        whole("network.dimension", self.dimension, 1)


@dataclass(frozen=True)
class Views:
    """What is done to a picture before the network sees it."""

    resize: int = 0  # 0: what fits the backbone, 64 for small and 256 for the others
    square: bool = True  # both sides become ``resize``; else the shorter one does
    crop: int = 0  # 0: seven eighths of ``resize``
    resized_crop: bool = False  # a part of another size and shape, made ``crop`` wide
    scale: tuple[float, float] = (0.2, 1.0)  # its share of the picture's area
    flip: bool = True
    rotation: float = 0.0  # degrees to either side

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", tuple(self.scale))
        whole("views.resize", self.resize, 0)
        whole("views.crop", self.crop, 0)
        number("views.rotation", self.rotation, zero=True)
        if self.resize and self.crop > self.resize:
            raise UsageError(
                f"views.crop must be at most views.resize, {self.resize}, got {self.crop}"
            )
        if len(self.scale) != 2 or not 0 < self.scale[0] <= self.scale[1] <= 1:
            raise UsageError(
                f"views.scale must be two shares, 0 < low <= high <= 1, got {list(self.scale)}"
            )
        if not self.square and (self.resized_crop or self.rotation):
            raise UsageError(
                "views.resized_crop and views.rotation need views.square: true, "
                "as pictures of several shapes are cropped one by one"
            )

    def fitting(self, backbone: str) -> Views:
        """The same with the sizes that were left to the backbone."""
        usual = _RESIZE.get(backbone, 256)
        resize = self.resize or max(usual, self.crop)
        return replace(self, resize=resize, crop=self.crop or max(1, resize * 7 // 8))


@dataclass(frozen=True)
class Batches:
    """P × K images of a step, and how many of them are in the network at a time."""

    classes: int = 28
    per_class: int = 4
    chunk: int | None = None  # images with a graph at a time: gradient caching; None: all

    def __post_init__(self) -> None:
        whole("batches.classes", self.classes, 2)
        whole("batches.per_class", self.per_class, 2)
        if self.chunk is not None:
            whole("batches.chunk", self.chunk, 1)


@dataclass(frozen=True)
class Objective:
    """What is minimized, by the name it has in ``rankwise.objective``."""

    name: str = "soprc(score_scale=1, tau_fpr=.1, tau_tpr=.001)"
    warm_start: int = 0  # first steps by SupCon: no AP loss likes an untrained network
    previous: bool = False  # score the batch by the last step's parameters too (StableAP 6)

    def __post_init__(self) -> None:
        whole("objective.warm_start", self.warm_start, 0)

    @property
    def short(self) -> str:
        """The name without its options, for a table."""
        return self.name.partition("(")[0]


@dataclass(frozen=True)
class Memory:
    """Cross-batch memory: so many embeddings of the last batches are ranked, too."""

    size: int = 0  # 0: none
    start: int = 1000  # steps without it, while embeddings change fast

    def __post_init__(self) -> None:
        whole("memory.size", self.size, 0)
        whole("memory.start", self.start, 0)


@dataclass(frozen=True)
class Mixup:
    """Deep feature mixup: before each of the last ``stages`` the batch doubles (StableAP 7.1)."""

    stages: int = 0  # 0: none
    u: float = 0.9  # how much of its own feature a mixed one keeps

    def __post_init__(self) -> None:
        whole("mixup.stages", self.stages, 0)
        if not 0 <= self.u <= 1:
            raise UsageError(f"mixup.u must be between 0 and 1, got {self.u!r}")


@dataclass(frozen=True)
class Optimizer:
    """How parameters move, and how the rate falls."""

    name: str = "sgd"
    learning_rate: float = 0.01
    weight_decay: float = 4e-4
    momentum: float = 0.9  # of sgd
    s: float = 1.0  # of sgd: 0 heavy ball, 1 Nesterov, between them a mixture
    milestones: tuple[int, ...] = ()  # steps after which the rate is multiplied by ``factor``
    factor: float = 0.1

    def __post_init__(self) -> None:
        object.__setattr__(self, "milestones", tuple(self.milestones))
        one_of("optimizer.name", self.name, ("sgd", "adam", "adamw"))
        number("optimizer.learning_rate", self.learning_rate)
        number("optimizer.weight_decay", self.weight_decay, zero=True)
        number("optimizer.factor", self.factor)
        for name, value, high in (("momentum", self.momentum, 1.0), ("s", self.s, 1.0)):
            if not 0 <= value <= high or (name == "momentum" and value == 1):
                bracket = ")" if name == "momentum" else "]"
                raise UsageError(f"optimizer.{name} must be in [0, 1{bracket}, got {value!r}")
        for step in self.milestones:
            whole("optimizer.milestones", step, 1)
        if list(self.milestones) != sorted(set(self.milestones)):
            raise UsageError(
                f"optimizer.milestones must go up, got {', '.join(map(str, self.milestones))}"
            )


@dataclass(frozen=True)
class Training:
    """How long, and how."""

    steps: int = 1000
    validate_every: int = 100  # steps; the run can be resumed from there
    patience: int | None = None  # validations without a better mAP, after which to stop
    precision: str = "float32"
    seed: int = 0

    def __post_init__(self) -> None:
        whole("training.steps", self.steps, 1)
        whole("training.validate_every", self.validate_every, 1)
        require_seed("training.seed", self.seed)
        one_of("training.precision", self.precision, PRECISIONS)
        if self.patience is not None:
            whole("training.patience", self.patience, 1)


@dataclass(frozen=True)
class Settings:
    """Everything that decides the result, beside the files of the data."""

    data: Data = field(default_factory=Data)
    network: Network = field(default_factory=Network)
    views: Views = field(default_factory=Views)
    batches: Batches = field(default_factory=Batches)
    objective: Objective = field(default_factory=Objective)
    memory: Memory = field(default_factory=Memory)
    mixup: Mixup = field(default_factory=Mixup)
    optimizer: Optimizer = field(default_factory=Optimizer)
    training: Training = field(default_factory=Training)

    def __post_init__(self) -> None:
        object.__setattr__(self, "views", self.views.fitting(self.network.backbone))
        chunk, per_class = self.batches.chunk, self.batches.per_class
        if chunk is not None and chunk % per_class:
            raise UsageError(
                f"batches.chunk must be a multiple of the {per_class} images of a class, "
                f"got {chunk}"
            )
        if self.memory.size and self.objective.previous:
            raise UsageError(
                "objective.previous and memory.size exclude each other: "
                "remembered embeddings have no previous parameters"
            )


def whole(name: str, value: object, least: int) -> None:
    """Raise unless a setting is a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise UsageError(f"{name} must be a whole number >= {least}, got {value!r}")


def number(name: str, value: object, *, zero: bool = False) -> None:
    """Raise unless a setting is a finite number above 0, or 0 itself where that is allowed."""
    good = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    if not (good and (value > 0 or (zero and value == 0))):  # type: ignore[operator]
        raise UsageError(f"{name} must be a finite number {'>=' if zero else '>'} 0, got {value!r}")


def one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise unless a setting is one of some words."""
    if value not in choices:
        raise UsageError(f"{name} must be one of {', '.join(choices)}, got {value!r}")
