from rankwise.errors import UsageError
from rankwise.report import Mean
from rankwise.tasks.recommendation.catalog import Scorer, Scores, best_items
from rankwise.tasks.recommendation.evaluation import (
    DEFAULT,
    MEASURES,
    Evaluation,
    Measure,
    evaluate,
    measure_of,
    popularity,
)
from rankwise.tasks.recommendation.exposure import catalog_metrics
from rankwise.tasks.recommendation.network import Recommender
from rankwise.tasks.recommendation.outcome import Outcome, Searched, Trained
from rankwise.tasks.recommendation.pipeline import Finished, evaluate_run, recommend, run
from rankwise.tasks.recommendation.problem import Pairs, Problem, prepared
from rankwise.tasks.recommendation.results import load_run, notes_of, results_table
from rankwise.tasks.recommendation.settings import Settings
from rankwise.tasks.recommendation.training import train
from rankwise.training import Step

__all__ = [
    "Settings",
    "UsageError",
    "Problem",
    "prepared",
    "run",
    "Finished",
    "evaluate_run",
    "recommend",
    "train",
    "Outcome",
    "Trained",
    "Searched",
    "Step",
    "Recommender",
    "load_run",
    "evaluate",
    "Evaluation",
    "Mean",
    "popularity",
    "catalog_metrics",
    "results_table",
    "notes_of",
    "Scorer",
    "Scores",
    "best_items",
    "Pairs",
    "Measure",
    "measure_of",
    "MEASURES",
    "DEFAULT",
]
