from rankwise.tasks.classification.evaluate import as_json, classes_table, results_table
from rankwise.tasks.classification.pipeline import (
    evaluate_part,
    fit_settings,
    load_run,
    open_data,
    run,
)
from rankwise.tasks.classification.settings import Settings

__all__ = [
    "Settings",
    "as_json",
    "classes_table",
    "evaluate_part",
    "fit_settings",
    "load_run",
    "open_data",
    "results_table",
    "run",
]
