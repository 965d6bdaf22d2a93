"""How much is measured, in full and in quick form."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from rankwise.data import DataError
from rankwise.tasks.retrieval.settings import Network
from rankwise.training.settings import Precision
from rankwise.vision.settings import Augmentations
from reproductions.frame import BasePlan, Setting
from reproductions.reduction import reducer
from reproductions.retrieval.methods import ABLATIONS, METHODS, TAUS, Method
from reproductions.retrieval.problem import Problem, find_weights, read_problems

MAIN = ("triplet", "SupCon", "SmoothAP", "SOPRC", "StableAP")
"""What a quick run trains from scratch."""


@dataclass(frozen=True)
class Budget:
    """Of every training of a setting: the same for all methods."""

    steps: int
    rates: tuple[float, ...]  # validation chooses among them, with the first seed
    seeds: tuple[int, ...]  # how many, for each data set; 0: it is left out
    warm_start: int  # first steps, by SupCon
    validations: int = 10
    weight_decay: float = 1e-4
    milestone: float | None = None  # share of the steps after which the rate is a tenth
    precision: Precision = "float32"


@dataclass(frozen=True)
class Plan(BasePlan):
    """What is measured."""

    QUICK: ClassVar = {"from_scratch": MAIN, "ablation_seeds": 1, "timed": 3}
    DRAWS = "seeds"  # of the budgets, see of()

    problems: tuple[Problem, ...]
    extractor: Network
    extractor_views: Augmentations
    pretrained: Budget
    scratch: Budget
    methods: tuple[Method, ...] = METHODS
    from_scratch: tuple[str, ...] = tuple(method.name for method in METHODS)
    ablations: tuple[Method, ...] = ABLATIONS
    ablation_seeds: int = 3
    taus: tuple[str, ...] = TAUS
    classes: int = 28  # of a batch
    per_class: int = 4
    sizes: tuple[int, ...] = (56, 112, 168, 224)  # images of a batch, where that is changed
    mapped: int = 12  # test classes in the maps of embeddings
    reduction: str = "pca"  # of the maps: pca or umap
    dimension: int = 128
    dropout: float = 0.5  # of the features, in training a head
    width: int = 32  # of the network from scratch
    shown: int = 6  # queries with their first results
    timed: int = 8  # steps
    clock: Callable[[], float] = time.process_time

    @classmethod
    def of(cls, setting: Setting) -> Plan:
        """Return the plan for a setting; ``draws`` is the number of seeds."""
        if setting.data is None:
            raise DataError(
                "retrieval needs images: --data with a folder that has images/omniglot_small, "
                "images/cifar100_subset.npz and weights/mobilenet_v2-….pth"
            )
        folder = Path(setting.data)
        reducer(setting.options.get("reduction", cls.reduction))  # refused before any training
        problems, draws = read_problems(folder), setting.draws or 3
        network = Network(backbone="mobilenet_v2", weights=str(find_weights(folder)))
        views = Augmentations(resize=128, crop=128)
        rates = (3e-4, 1e-3, 3e-3)
        # Half precision: a network's step takes .6 of the time, and all methods have it.
        scratch: dict[str, Any] = {"milestone": 0.7, "precision": "bfloat16"}
        pretrained = Budget(200, rates, (draws, draws), 20)
        trained = Budget(400, rates[1:2], (draws, 1), 40, 5, **scratch)
        if setting.quick:
            pretrained = Budget(150, rates[1:], (draws, draws), 15, 5)
            trained = Budget(200, rates[1:2], (1, 0), 20, 4, **scratch)
        return cls(problems, network, views, pretrained, trained).changed(
            replace(setting, draws=None)
        )
