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
