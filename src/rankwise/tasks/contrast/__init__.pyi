from rankwise.errors import UsageError
from rankwise.tasks.contrast.data import DataError, Images, read_images
from rankwise.tasks.contrast.evaluation import Evaluation, Share, evaluate
from rankwise.tasks.contrast.network import ContrastNet
from rankwise.tasks.contrast.page import load_network, results_table
from rankwise.tasks.contrast.pipeline import Finished, run
from rankwise.tasks.contrast.settings import Settings
from rankwise.tasks.contrast.training import Step, Trained, new_network, steps_per_epoch, train

__all__ = [
    "ContrastNet",
    "DataError",
    "Evaluation",
    "Finished",
    "Images",
    "Settings",
    "Share",
    "Step",
    "Trained",
    "UsageError",
    "evaluate",
    "load_network",
    "new_network",
    "read_images",
    "results_table",
    "run",
    "steps_per_epoch",
    "train",
]
