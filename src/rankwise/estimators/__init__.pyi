from rankwise.estimators.base import Ranker
from rankwise.estimators.boosted import BoostedRanker
from rankwise.estimators.linear._ranker import LinearRanker
from rankwise.estimators.neural._ranker import NeuralRanker
from rankwise.estimators.papk.ranker import PApAtKRanker

__all__ = [
    "Ranker",
    "LinearRanker",
    "NeuralRanker",
    "BoostedRanker",
    "PApAtKRanker",
]
