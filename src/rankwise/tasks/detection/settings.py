"""What a run of detection is asked to do: one small record for every side of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from rankwise.errors import UsageError
from rankwise.tasks.retrieval.settings import Optimizer, number, one_of, whole
from rankwise.tasks.seeds import require_seed
from rankwise.training.devices import PRECISIONS

__all__ = [
    "BACKBONES",
    "Data",
    "Found",
    "Network",
    "Objective",
    "Optimizer",
    "Settings",
    "Training",
    "UsageError",
    "Views",
]

BACKBONES = ("small", "mobilenet_v2", "resnet", "convnext")
_FINEST, _COARSEST = 4, 128


@dataclass(frozen=True)
class Data:
    """Where the pictures are, and which lists of them are which part."""

    kind: str = "voc"
    root: str = ""
    train: tuple[str, ...] = ("train",)
    validation: tuple[str, ...] = ()  # none: a share of the training pictures
    test: tuple[str, ...] = ("test",)
    validation_share: float = 0.1
    seed: int = 0  # of that parting

    def __post_init__(self) -> None:
        for name in ("train", "validation", "test"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not self.train or not self.test:
            raise UsageError("data.train and data.test must each name at least one list")
        require_seed("data.seed", self.seed)
        if not 0 < self.validation_share < 1:
            raise UsageError(
                f"data.validation_share must be between 0 and 1, got {self.validation_share!r}"
            )


@dataclass(frozen=True)
class Network:
    """A backbone, the pyramid on it, and the head that looks at every level of it."""

    backbone: str = "small"
    weights: str | None = None  # a folder, a name in the hub's cache, a file; None: from scratch
    options: dict[str, Any] = field(default_factory=dict)  # of the backbone's own configuration
    frozen: int = 0  # first stages of the backbone that do not learn; 1 is the stem
    freeze_batch_norm: bool = True
    levels: tuple[int, ...] = (8, 16, 32, 64)  # pixels between two places of each
    width: int = 256  # channels of the pyramid and the head
    depth: int = 4  # convolutions before each output of the head
    anchor_scale: float = 8.0  # side of an anchor in strides

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(self.levels))
        one_of("network.backbone", self.backbone, BACKBONES)
        whole("network.frozen", self.frozen, 0)
        whole("network.width", self.width, 8)
        if self.width % 8:
            raise UsageError(f"network.width must be a multiple of 8, got {self.width}")
        whole("network.depth", self.depth, 0)
        number("network.anchor_scale", self.anchor_scale)
        doubled = all(b == 2 * a for a, b in zip(self.levels, self.levels[1:], strict=False))
        known = self.levels and self.levels[0] in (4, 8, 16, 32)
        if not (doubled and known and self.levels[-1] <= _COARSEST):
            raise UsageError(
                f"network.levels must double from {_FINEST}, 8, 16 or 32 to at most {_COARSEST}, "
                f"got {list(self.levels)}"
            )


@dataclass(frozen=True)
class Views:
    """What is done to a picture, and to its boxes with it, before the network sees it."""

    height: int = 512
    width: int = 512
    test_side: int | None = None  # shorter side in evaluation, shape kept; None: as in training
    cache: bool = False  # keep resized pictures in memory
    flip: bool = True
    crop: bool = True  # a part that still has the middle of an object in it
    expand: float = 4.0  # the picture on a canvas up to so many times as wide; 1: never
    colors: bool = True  # brightness, contrast, saturation, hue

    def __post_init__(self) -> None:
        whole("views.height", self.height, 32)
        whole("views.width", self.width, 32)
        if self.test_side is not None:
            whole("views.test_side", self.test_side, 32)
        number("views.expand", self.expand)
        if self.expand < 1:
            raise UsageError(f"views.expand must be at least 1, got {self.expand!r}")


@dataclass(frozen=True)
class Objective:
    """What is minimized: a loss of all scores, 2 GIoU and the term that holds the scores."""

    name: str = "stable_ap"
    pooled: bool = True  # anchors of all classes in one list; else one list for each class
    box_weight: float = 2.0
    bias_weight: float = 0.001
    bias_form: str = "sum"  # of the positives' scores, as printed, or their mean
    classification_weight: float = 1.0
    warm_start: int = 0  # first steps by focal loss

    def __post_init__(self) -> None:
        number("objective.box_weight", self.box_weight, zero=True)
        number("objective.bias_weight", self.bias_weight, zero=True)
        number("objective.classification_weight", self.classification_weight, zero=True)
        one_of("objective.bias_form", self.bias_form, ("sum", "mean"))
        whole("objective.warm_start", self.warm_start, 0)

    @property
    def short(self) -> str:
        """The name without its options, for a table."""
        return self.name.partition("(")[0]


@dataclass(frozen=True)
class Found:
    """Which of all scored boxes are given out."""

    before: int = 1000  # the best of a picture that are compared with each other
    overlap: float = 0.6  # IoU with a better one of its class that a box may have at most
    most: int = 100  # boxes of a picture
    by_class: bool = False  # these numbers are of each class apart; set where pooled is false

    def __post_init__(self) -> None:
        whole("found.before", self.before, 1)
        whole("found.most", self.most, 1)
        if not 0 <= self.overlap <= 1:
            raise UsageError(f"found.overlap must be in [0, 1], got {self.overlap!r}")


@dataclass(frozen=True)
class Training:
    """How long, and how."""

    steps: int = 90_000
    batch: int = 32
    validate_every: int = 1000  # steps; the run can be resumed from there
    warm_up: int = 0  # steps in which the rate rises to its full height
    clip: float | None = None  # the longest a gradient may be
    precision: str = "float32"
    seed: int = 0

    def __post_init__(self) -> None:
        whole("training.steps", self.steps, 1)
        whole("training.batch", self.batch, 1)
        whole("training.validate_every", self.validate_every, 1)
        whole("training.warm_up", self.warm_up, 0)
        require_seed("training.seed", self.seed)
        one_of("training.precision", self.precision, PRECISIONS)
        if self.clip is not None:
            number("training.clip", self.clip)


@dataclass(frozen=True)
class Settings:
    """Everything that decides the result, beside the files of the data."""

    data: Data = field(default_factory=Data)
    network: Network = field(default_factory=Network)
    views: Views = field(default_factory=Views)
    objective: Objective = field(default_factory=Objective)
    found: Found = field(default_factory=Found)
    optimizer: Optimizer = field(default_factory=partial(Optimizer, s=0.0, weight_decay=1e-4))
    training: Training = field(default_factory=Training)

    def __post_init__(self) -> None:
        if not self.objective.pooled:
            # With a list for each class a constant on the scores of one class changes nothing in
            # training: scores of two classes are not to be compared.
            object.__setattr__(self, "found", replace(self.found, by_class=True))
