from rankwise.retrieval.approximate import ApproximateSearch, Cells, Recall
from rankwise.retrieval.evaluation import RetrievalResult, evaluate
from rankwise.retrieval.fusion import fuse
from rankwise.retrieval.hierarchy import HierarchicalResult, evaluate_hierarchy
from rankwise.retrieval.search import Nearest, nearest

__all__ = [
    "HierarchicalResult",
    "evaluate_hierarchy",
    "ApproximateSearch",
    "Cells",
    "Nearest",
    "Recall",
    "RetrievalResult",
    "evaluate",
    "fuse",
    "nearest",
]
