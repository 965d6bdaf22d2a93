from rankwise.tasks.contrast.pipeline import load_network, results_table, run
from rankwise.tasks.contrast.task import read_images, steps_per_epoch

__all__ = ["load_network", "read_images", "results_table", "run", "steps_per_epoch"]
