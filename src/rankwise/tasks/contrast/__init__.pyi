from rankwise.tasks.contrast.pipeline import load_network, results_table, run

__all__ = ["load_network", "results_table", "run"]
