from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.model import Model, load_model
from rankwise.tasks.compare.pipeline import CompareResult, run
from rankwise.tasks.compare.scores import (
    EvaluationResult,
    Predictions,
    evaluate_run,
    evaluate_scores,
    predict_file,
)
from rankwise.tasks.compare.search import Event
from rankwise.tasks.compare.settings import Settings, seconds_of

__all__ = [
    "CompareResult",
    "Candidate",
    "EvaluationResult",
    "Event",
    "Model",
    "Predictions",
    "Settings",
    "evaluate_run",
    "evaluate_scores",
    "load_model",
    "predict_file",
    "run",
    "seconds_of",
]
