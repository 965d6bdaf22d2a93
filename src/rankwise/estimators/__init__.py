"""Estimators with scikit-learn's contract, trained on the metric they are judged by."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from rankwise.extras import require

if TYPE_CHECKING:
    from rankwise.estimators.base import Ranker
    from rankwise.estimators.boosted import BoostedRanker
    from rankwise.estimators.linear import LinearRanker
    from rankwise.estimators.neural import NeuralRanker
    from rankwise.estimators.papk import (
        GreedyPApAtKRanker,
        LogisticAtKRanker,
        PApAtKRanker,
        PartialAUCAtKRanker,
        PrecisionAtKRanker,
        SelectPApAtKRanker,
        StructuralAUCRanker,
    )

__all__ = [
    "Ranker",
    "LinearRanker",
    "NeuralRanker",
    "BoostedRanker",
    "PApAtKRanker",
    "PartialAUCAtKRanker",
    "PrecisionAtKRanker",
    "GreedyPApAtKRanker",
    "SelectPApAtKRanker",
    "LogisticAtKRanker",
    "StructuralAUCRanker",
]

require("rankwise.estimators", "scipy", "sklearn", "threadpoolctl")

_HOMES = {
    "Ranker": "base",
    "LinearRanker": "linear",
    "NeuralRanker": "neural",
    "BoostedRanker": "boosted",
    "PApAtKRanker": "papk",
    "PartialAUCAtKRanker": "papk",
    "PrecisionAtKRanker": "papk",
    "GreedyPApAtKRanker": "papk",
    "SelectPApAtKRanker": "papk",
    "LogisticAtKRanker": "papk",
    "StructuralAUCRanker": "papk",
}


def __getattr__(name: str) -> object:
    """Load an estimator when it is first named: nobody waits for an engine they do not use."""
    if name in _HOMES:
        return getattr(import_module(f"rankwise.estimators.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'rankwise.estimators' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
