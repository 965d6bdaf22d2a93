"""Networks: ours, log-loss in its forms, and LibAUC's SOAP by the interpreter that has it."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.tabular.fits import Fit, fitted, weighted
from benchmarks.tabular.sets import Parts

from rankwise.estimators import NeuralRanker
from rankwise.estimators.data import Floats

__all__ = ["AP", "PARTIAL"]

HOUSE = Path(__file__).parents[2]
PEERS = HOUSE / ".venv-peers" / "bin" / "python"


def network(objective: str | None = None, **options: Any) -> Fit:
    """NeuralRanker with its own options; None: the objective of the metric."""
    return fitted(lambda metric: NeuralRanker(objective or metric, metric=metric, **options))


def soap(parts: Parts, metric: str, seed: int) -> Floats:
    """The same network, batches and epochs, after the same cross-entropy."""
    with tempfile.TemporaryDirectory() as folder:
        rows, scores = Path(folder) / "rows.npz", Path(folder) / "scores.npy"
        arrays = {f"{name}{i}": getattr(p, name) for i, p in enumerate(parts) for name in _NAMES}
        np.savez(rows, **arrays)
        command = [str(PEERS), "-m", "benchmarks.tabular.soap", metric, str(seed)]
        subprocess.run(
            [*command, str(rows), str(scores)],
            check=True,
            cwd=HOUSE,
            env={"PYTHONPATH": str(HOUSE / "src"), "OMP_NUM_THREADS": "1"},
        )
        return np.asarray(np.load(scores), dtype=np.float64)


_NAMES = ("X", "target")

AP: dict[str, Fit] = {
    "log-loss": network("log_loss"),
    'NeuralRanker("ap")': network(),
    "class-weighted log-loss": weighted(network("log_loss")),
    "focal": network("focal", warm_start_epochs=0),
    "LibAUC SOAP": soap,
}
PARTIAL: dict[str, Fit] = {
    "log-loss": network("log_loss"),
    'NeuralRanker("opauc(max_fpr=.05)")': network(),
    "class-weighted log-loss": weighted(network("log_loss")),
}
