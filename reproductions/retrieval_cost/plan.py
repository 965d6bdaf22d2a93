"""How much is measured, in full and in quick form."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from benchmarks.memory import peak_bytes_of

from rankwise.checks import require_one_of
from rankwise.data import DataError
from rankwise.tasks.retrieval.settings import Network
from rankwise.vision.settings import Augmentations
from reproductions.frame import BasePlan, Setting
from reproductions.retrieval.methods import Method
from reproductions.retrieval.problem import Problem, find_weights, read_problems
from reproductions.retrieval_cost.methods import METHODS

SETS = ("omniglot-features", "cifar100-features", "omniglot-scratch", "cifar100-scratch")
STAGES = ("cost", "choose", "test")
"""What a batch costs; which settings validation chooses; the test classes."""


@dataclass(frozen=True)
class Plan(BasePlan):
    """What is measured."""

    QUICK: ClassVar = {
        "sets": SETS[2:3],
        "only": ("SOPRC", "SupCon", "normalized softmax"),
        "scratch_seconds": 3.0,
        "least_steps": 10,
        "validations": 2,
        "seeds": 2,
        "rates": (1e-3,),
    }
    DRAWS = "seeds"

    problems: tuple[Problem, ...] = ()
    extractor: Network | None = None
    extractor_views: Augmentations | None = None
    methods: tuple[Method, ...] = METHODS
    sets: tuple[str, ...] = SETS
    only: tuple[str, ...] = tuple(method.name for method in METHODS)
    stage: str = "test"  # the last one
    max_minutes: float = 0.0  # no training starts after that; 0: no limit
    seeds: int = 5
    rates: tuple[float, ...] = (1e-3, 3e-3)
    feature_seconds: float = 12.0  # of processor time, of every training on features
    scratch_seconds: float = 40.0  # the same of a whole network
    least_steps: int = 80  # that the seconds must be enough for
    memory_mb: int = 1024  # that a step may add to the process
    batches: tuple[int, ...] = (112, 448, 1024, 4096)
    chunk: int = 112  # images in a pass of the network: gradient caching
    timed: int = 3  # steps
    validations: int = 4
    dimension: int = 128
    dropout: float = 0.5  # of the features
    width: int = 32  # of the network from scratch
    clock: Callable[[], float] = time.process_time
    peak_bytes: Callable[[Callable[[], object]], int] = peak_bytes_of

    def __post_init__(self) -> None:
        require_one_of("stage", self.stage, STAGES)
        for name in self.sets:
            require_one_of("sets", name, SETS)
        known = tuple(method.name for method in self.methods)
        for name in self.only:
            require_one_of("only", name, known)

    @classmethod
    def of(cls, setting: Setting) -> Self:
        """Return the plan for a setting; ``draws`` is the number of seeds."""
        if setting.data is None:
            raise DataError(
                "retrieval-cost needs images: --data with a folder that has images/omniglot_small, "
                "images/cifar100_subset.npz and weights/mobilenet_v2-….pth"
            )
        folder = Path(setting.data)
        network = Network(backbone="mobilenet_v2", weights=str(find_weights(folder)))
        found: dict[str, Any] = {
            "problems": read_problems(folder),
            "extractor": network,
            "extractor_views": Augmentations(resize=128, crop=128),
        }
        return replace(cls().changed(setting), **found)

    @property
    def compared(self) -> tuple[Method, ...]:
        """The methods that were asked for."""
        return tuple(method for method in self.methods if method.name in self.only)

    def does(self, stage: str) -> bool:
        """Whether a stage was asked for."""
        return STAGES.index(stage) <= STAGES.index(self.stage)
