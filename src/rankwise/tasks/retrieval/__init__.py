"""Image retrieval: an embedding trained on, and evaluated by, the order of a gallery."""

from rankwise.tasks.retrieval.evaluate import evaluate, evaluate_splits
from rankwise.tasks.retrieval.index import (
    Index,
    Match,
    make_index,
    read_index,
    search,
    with_cells,
    write_index,
)
from rankwise.tasks.retrieval.losses import RetrievalLoss
from rankwise.tasks.retrieval.network import EmbeddingNet, make_network
from rankwise.tasks.retrieval.pipeline import load_run, open_data, run
from rankwise.tasks.retrieval.report import results_table
from rankwise.tasks.retrieval.settings import Settings
from rankwise.tasks.retrieval.task import RetrievalTask, new_network, train

__all__ = [
    "EmbeddingNet",
    "Index",
    "Match",
    "RetrievalLoss",
    "RetrievalTask",
    "Settings",
    "evaluate",
    "evaluate_splits",
    "load_run",
    "make_index",
    "make_network",
    "new_network",
    "open_data",
    "read_index",
    "results_table",
    "run",
    "search",
    "train",
    "with_cells",
    "write_index",
]
