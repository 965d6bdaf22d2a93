from rankwise.retrieval.approximate import ApproximateSearch, Cells, Recall
from rankwise.retrieval.evaluation import RetrievalResult, evaluate
from rankwise.retrieval.exact import Nearest, nearest

__all__ = [
    "ApproximateSearch",
    "Cells",
    "Nearest",
    "Recall",
    "RetrievalResult",
    "evaluate",
    "nearest",
]
