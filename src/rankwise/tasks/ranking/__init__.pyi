from rankwise.errors import UsageError
from rankwise.tasks.ranking.clicks import (
    ClickModel,
    learn_from_clicks,
    linear_metrics,
    linear_settings,
)
from rankwise.tasks.ranking.evaluate import (
    QueryMetric,
    evaluate_lists,
    notes_of,
    results_table,
    tied_queries,
)
from rankwise.tasks.ranking.pipeline import Finished, fitted, load_run, run, scores_frame, scores_of
from rankwise.tasks.ranking.run_metrics import evaluate_run
from rankwise.tasks.ranking.settings import DEFAULT, TREC, Settings
from rankwise.tasks.ranking.trec import (
    RunComparison,
    as_qrels,
    as_run,
    compare_all_runs,
    compare_runs,
    comparison_table,
    fuse_runs,
    pairs_table,
    run_remarks,
    tied_run_queries,
)

__all__ = [
    "Settings",
    "UsageError",
    "fitted",
    "evaluate_lists",
    "QueryMetric",
    "DEFAULT",
    "run",
    "Finished",
    "load_run",
    "scores_of",
    "scores_frame",
    "results_table",
    "notes_of",
    "evaluate_run",
    "run_remarks",
    "compare_all_runs",
    "compare_runs",
    "pairs_table",
    "fuse_runs",
    "RunComparison",
    "comparison_table",
    "tied_queries",
    "tied_run_queries",
    "TREC",
    "ClickModel",
    "learn_from_clicks",
    "linear_metrics",
    "linear_settings",
    "as_run",
    "as_qrels",
]
