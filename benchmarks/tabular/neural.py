"""Networks: ours, log-loss in its forms, and LibAUC's SOAP by the interpreter that has it."""

from __future__ import annotations

import json
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.tabular.fits import Fit, Remembered, fitted, together, weighted
from benchmarks.tabular.sets import Parts

from rankwise.estimators import NeuralRanker
from rankwise.estimators.data import Floats

__all__ = ["AP", "PARTIAL"]

HOUSE = Path(__file__).parents[2]
PEERS = HOUSE / ".venv-peers" / "bin" / "python"


def network(objective: str | None = None, **options: Any) -> Fit:
    """NeuralRanker with its own options; None: the objective of the metric."""
    return fitted(lambda metric: NeuralRanker(objective or metric, metric=metric, **options))


@cache
def peer() -> subprocess.Popen[str]:
    """One process for all fits, since what it imports takes longer than a small one."""
    return subprocess.Popen(
        [str(PEERS), "-m", "benchmarks.tabular.soap"],
        cwd=HOUSE,
        env={"PYTHONPATH": str(HOUSE / "src"), "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def soap(parts: Parts, metric: str, seed: int) -> Floats:
    """The same network, batches and epochs, after the same cross-entropy."""
    stdin, stdout = peer().stdin, peer().stdout
    assert stdin is not None
    assert stdout is not None
    with tempfile.TemporaryDirectory() as folder:
        rows, scores = Path(folder) / "rows.npz", Path(folder) / "scores.npy"
        arrays = {f"{name}{i}": getattr(p, name) for i, p in enumerate(parts) for name in _NAMES}
        np.savez(rows, **arrays)
        print(json.dumps([metric, seed, str(rows), str(scores)]), file=stdin, flush=True)
        if stdout.readline().strip() != "done":
            raise RuntimeError(f"the peers' interpreter ended with {peer().wait()}")
        return np.asarray(np.load(scores), dtype=np.float64)


_NAMES = ("X", "target")

plain, metric = Remembered(network("log_loss")), Remembered(network())


def another(parts: Parts, metric: str, seed: int) -> Floats:
    """The same network from other first weights, on other batches."""
    return network("log_loss")(parts, metric, seed + 1000)


AP: dict[str, Fit] = {
    "log-loss": plain,
    'NeuralRanker("ap")': metric,
    "both, mean of ranks": together(plain, metric),
    "two log-losses, mean of ranks": together(plain, another),
    "class-weighted log-loss": weighted(network("log_loss")),
    "focal": network("focal", warm_start_epochs=0),
    "LibAUC SOAP": soap,
}
PARTIAL: dict[str, Fit] = {
    "log-loss": plain,
    'NeuralRanker("opauc(max_fpr=.05)")': metric,
    "both, mean of ranks": together(plain, metric),
    "two log-losses, mean of ranks": together(plain, another),
    "class-weighted log-loss": weighted(network("log_loss")),
}
