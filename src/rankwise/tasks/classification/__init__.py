"""Long-tailed classification: every class ranks all images, and is evaluated by that."""

from rankwise.tasks.classification.evaluate import Evaluation, as_json, evaluate, evaluate_scores
from rankwise.tasks.classification.losses import ClassificationLoss
from rankwise.tasks.classification.network import Classifier, make_classifier
from rankwise.tasks.classification.pipeline import evaluate_part, load_run, open_data, run
from rankwise.tasks.classification.report import classes_table, results_table
from rankwise.tasks.classification.settings import Settings
from rankwise.tasks.classification.task import ClassificationTask, train

__all__ = [
    "ClassificationLoss",
    "ClassificationTask",
    "Classifier",
    "Evaluation",
    "Settings",
    "as_json",
    "classes_table",
    "evaluate",
    "evaluate_part",
    "evaluate_scores",
    "load_run",
    "make_classifier",
    "open_data",
    "results_table",
    "run",
    "train",
]
