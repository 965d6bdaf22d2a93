from rankwise.tasks.retrieval.evaluate import as_json, embed_splits, results_table
from rankwise.tasks.retrieval.index import (
    images_in,
    make_index,
    read_index,
    search,
    with_cells,
    write_index,
)
from rankwise.tasks.retrieval.pipeline import fit_settings, load_run, open_data, open_run, run
from rankwise.tasks.retrieval.settings import Settings

__all__ = [
    "Settings",
    "as_json",
    "embed_splits",
    "fit_settings",
    "images_in",
    "load_run",
    "make_index",
    "open_data",
    "open_run",
    "read_index",
    "results_table",
    "run",
    "search",
    "with_cells",
    "write_index",
]
