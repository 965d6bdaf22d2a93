from rankwise.estimators.base import Ranker
from rankwise.estimators.boosted import BoostedRanker
from rankwise.estimators.linear import LinearRanker
from rankwise.estimators.neural import NeuralRanker
from rankwise.estimators.papk import PApAtKRanker

__all__ = [
    "Ranker",
    "LinearRanker",
    "NeuralRanker",
    "BoostedRanker",
    "PApAtKRanker",
]
