"""Long-tailed classification: every class ranks all images, and is judged by that."""

from rankwise.errors import UsageError
from rankwise.tasks.classification.evaluate import Judged, as_json, judge, judge_scores
from rankwise.tasks.classification.files import load_run
from rankwise.tasks.classification.losses import ClassificationLoss
from rankwise.tasks.classification.network import Classifier, make_classifier
from rankwise.tasks.classification.page import classes_table, results_table
from rankwise.tasks.classification.pipeline import Finished, judge_part, open_data, run
from rankwise.tasks.classification.settings import Settings
from rankwise.tasks.classification.task import ClassificationTask
from rankwise.tasks.classification.training import Step, Trained, train

__all__ = [
    "Classifier",
    "ClassificationLoss",
    "ClassificationTask",
    "Finished",
    "Judged",
    "Settings",
    "Step",
    "Trained",
    "UsageError",
    "as_json",
    "classes_table",
    "judge",
    "judge_part",
    "judge_scores",
    "load_run",
    "make_classifier",
    "open_data",
    "results_table",
    "run",
    "train",
]
