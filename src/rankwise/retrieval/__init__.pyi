from rankwise.retrieval.evaluation import RetrievalResult, evaluate
from rankwise.retrieval.fusion import fuse
from rankwise.retrieval.search import ApproximateSearch, Cells, Nearest, Recall, nearest

__all__ = [
    "ApproximateSearch",
    "Cells",
    "Nearest",
    "Recall",
    "RetrievalResult",
    "evaluate",
    "fuse",
    "nearest",
]
