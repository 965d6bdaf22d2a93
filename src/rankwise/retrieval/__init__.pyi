from rankwise.retrieval.approximate import ApproximateSearch
from rankwise.retrieval.cells import Cells, Recall
from rankwise.retrieval.evaluation import evaluate
from rankwise.retrieval.exact import Nearest, nearest
from rankwise.retrieval.result import RetrievalResult

__all__ = [
    "ApproximateSearch",
    "Cells",
    "Nearest",
    "Recall",
    "RetrievalResult",
    "evaluate",
    "nearest",
]
