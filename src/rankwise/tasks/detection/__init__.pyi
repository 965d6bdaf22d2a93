from rankwise.tasks.detection.evaluate import evaluate as evaluate_detections
from rankwise.tasks.detection.inference import detect_all
from rankwise.tasks.detection.pipeline import load_run, open_data, predict, require_places, run
from rankwise.tasks.detection.report import results_table
from rankwise.tasks.detection.settings import Settings

__all__ = [
    "Settings",
    "detect_all",
    "evaluate_detections",
    "load_run",
    "open_data",
    "predict",
    "require_places",
    "results_table",
    "run",
]
