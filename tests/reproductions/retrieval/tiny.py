"""The study in small: made-up pictures, an untrained network, few steps, no clock."""

from __future__ import annotations

from typing import Any

from tests.tasks.retrieval.cases import splits

from rankwise.tasks.retrieval.settings import Network
from rankwise.vision.settings import Augmentations
from reproductions.retrieval.benches import Pretrained
from reproductions.retrieval.features import features_of
from reproductions.retrieval.methods import ABLATIONS, METHODS
from reproductions.retrieval.plan import Budget, Plan
from reproductions.retrieval.problem import Problem

VIEWS = Augmentations(resize=10, crop=8)
NETWORK = Network(backbone="small", options={"width": 2})


def plan(**changed: Any) -> Plan:
    """Two data sets; on the second nothing is trained from scratch."""
    named = {method.name: method for method in METHODS}
    names = ("triplet", "SupCon", "SOPRC", "StableAP")
    given: dict[str, Any] = {
        "problems": tuple(Problem(name, splits(), VIEWS) for name in ("first", "second")),
        "extractor": NETWORK,
        "extractor_views": VIEWS,
        "pretrained": Budget(4, (0.01, 0.1), (2, 2), 1, 2),
        "scratch": Budget(2, (0.01,), (1, 0), 1, 1),
        "methods": tuple(named[name] for name in names),
        "from_scratch": ("SupCon", "SOPRC"),
        "ablations": (ABLATIONS[0], ABLATIONS[7], ABLATIONS[-1]),
        "ablation_seeds": 1,
        "taus": (".1", ".3"),
        "classes": 3,
        "per_class": 2,
        "sizes": (4, 6, 80),
        "dimension": 4,
        "width": 2,
        "shown": 2,
        "timed": 1,
        "clock": lambda: 0.0,
    }
    return Plan(**{**given, **changed})


def pretrained() -> Pretrained:
    """The bench of the first problem, with features of a network that was never trained."""
    tiny = plan()
    return Pretrained(tiny.problems[0], tiny, features_of(tiny.problems[0].splits, NETWORK, VIEWS))
