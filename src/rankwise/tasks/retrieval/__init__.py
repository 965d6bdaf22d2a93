"""Image retrieval: an embedding trained on the order of a gallery, and judged by it."""

from rankwise.errors import UsageError
from rankwise.tasks.retrieval.evaluate import embed, judge, judge_splits
from rankwise.tasks.retrieval.files import load_run
from rankwise.tasks.retrieval.image_dataset import Pictures
from rankwise.tasks.retrieval.index import (
    Found,
    Index,
    make_index,
    read_index,
    search,
    with_cells,
    write_index,
)
from rankwise.tasks.retrieval.losses import RetrievalLoss
from rankwise.tasks.retrieval.network import EmbeddingNet, make_network
from rankwise.tasks.retrieval.page import results_table
from rankwise.tasks.retrieval.pipeline import Finished, open_data, run
from rankwise.tasks.retrieval.settings import Settings
from rankwise.tasks.retrieval.task import RetrievalTask, new_network
from rankwise.tasks.retrieval.training import Step, Trained, train

__all__ = [
    "EmbeddingNet",
    "Finished",
    "Found",
    "Index",
    "Pictures",
    "RetrievalLoss",
    "RetrievalTask",
    "Settings",
    "Step",
    "Trained",
    "UsageError",
    "embed",
    "judge",
    "judge_splits",
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
