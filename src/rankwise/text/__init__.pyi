from rankwise.text.bi_encoder import BiEncoderLoss
from rankwise.text.collection import TextCollection
from rankwise.text.cross_encoder import CrossEncoderLoss
from rankwise.text.evaluation import RerankingEvaluator, SearchEvaluator
from rankwise.text.mining import hard_negatives

__all__ = [
    "TextCollection",
    "BiEncoderLoss",
    "CrossEncoderLoss",
    "hard_negatives",
    "SearchEvaluator",
    "RerankingEvaluator",
]
