from rankwise.tasks.compare.bounded import HISTOGRAM, evaluate_bounded, is_large, shown_bounds
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.drift import DriftResult, measure_drift
from rankwise.tasks.compare.evaluation import EvaluationResult
from rankwise.tasks.compare.fusion import fuse_files
from rankwise.tasks.compare.model import Model, load_model
from rankwise.tasks.compare.pipeline import CompareResult, run
from rankwise.tasks.compare.predict import Predictions, predict_file
from rankwise.tasks.compare.run_files import data_of_run, rows_of_part
from rankwise.tasks.compare.scores import evaluate_run, evaluate_scores
from rankwise.tasks.compare.search import Event
from rankwise.tasks.compare.settings import Settings, seconds_of
from rankwise.tasks.compare.slices import Slice, slice_remark, slice_tables
from rankwise.tasks.compare.systems import SystemsResult, evaluate_systems

__all__ = [
    "HISTOGRAM",
    "CompareResult",
    "Candidate",
    "DriftResult",
    "EvaluationResult",
    "Event",
    "Model",
    "Predictions",
    "Settings",
    "Slice",
    "SystemsResult",
    "data_of_run",
    "evaluate_bounded",
    "evaluate_run",
    "evaluate_scores",
    "evaluate_systems",
    "fuse_files",
    "is_large",
    "load_model",
    "measure_drift",
    "predict_file",
    "rows_of_part",
    "run",
    "seconds_of",
    "shown_bounds",
    "slice_remark",
    "slice_tables",
]
