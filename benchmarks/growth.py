"""Time and memory of a training step as the list grows, against the peers' losses of AP.

``python -m benchmarks.growth`` measures, writes ``growth.json`` and draws it (benchmarks.figure).
It needs the peers' own environment (``make bench-peers``). Every step is alone in a process, on one
thread; time is processor time, memory the peak beyond what the process held before the step.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from benchmarks import figure
from benchmarks.memory import peak_bytes_of
from benchmarks.objective_step import list_step, ours, retrieval_step
from benchmarks.objectives import PEERS
from benchmarks.page import write_safely
from benchmarks.timing import measure_in_fresh_process

# The largest n of a peer is the last that takes seconds and less than 2 GB.
SIZES = {
    "list": {
        "libauc": (1_000, 2_000, 5_000, 10_000, 20_000),
        "SOPRC": (1_000, 2_000, 5_000, 10_000, 20_000, 100_000, 1_000_000),
    },
    "batch": {"pml": (56, 112, 224, 448), "SOPRC": (56, 112, 224, 448, 1_024, 2_048)},
}


def step_from_embeddings(size: int) -> Callable[[], object]:
    """Ours from the embeddings on, as that of pytorch-metric-learning."""
    from rankwise.objectives import embedding_scores  # noqa: PLC0415

    labels = torch.arange(size) // 4
    embeddings = torch.nn.functional.normalize(torch.randn(size, 64), dim=1).requires_grad_()
    objective = ours("SOPRC", int(labels.max()) + 1)

    def step() -> None:
        embeddings.grad = None
        found = embedding_scores(embeddings, labels)
        objective(found.scores, found.target, mask=found.mask, list_ids=labels).backward()

    return step


def _step(task: str, loss: str, size: int) -> Callable[[], object]:
    if task == "list":
        return list_step(loss, size)
    return step_from_embeddings(size) if loss == "SOPRC" else retrieval_step(loss, size)


def measure(task: str, loss: str, size: int) -> dict[str, float]:
    """Return the median processor seconds of a step and its peak memory in bytes."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    _step(task, loss, 16 if task == "batch" else 200)()  # loads what is loaded once
    step = _step(task, loss, size)
    peak = peak_bytes_of(step)
    taken: list[float] = []
    while len(taken) < 5 or (sum(taken) < 0.2 and len(taken) < 100):
        start = time.process_time()
        step()
        taken.append(time.process_time() - start)
        if sum(taken) > 8:
            break
    return {"seconds": statistics.median(taken), "peak": peak}


def main(arguments: list[str]) -> int:
    if arguments:
        print(json.dumps(measure(arguments[0], arguments[1], int(arguments[2]))))
        return 0
    if not PEERS.exists():
        print("no .venv-peers: run `make bench-peers`")
        return 2
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ["PYTHONPATH"] = str(Path(__file__).parent.parent / "src")
    rows: list[dict[str, Any]] = []
    for task, losses in SIZES.items():
        for loss, sizes in losses.items():
            for size in sizes:
                found = measure_in_fresh_process(
                    "benchmarks.growth", task, loss, str(size), python=str(PEERS)
                )
                rows.append({"task": task, "loss": loss, "n": size, **found})
                print(rows[-1], flush=True)
    held = {"torch": torch.__version__, "threads": 1, "rows": rows}
    write_safely(figure.MEASURED, json.dumps(held, indent=1) + "\n")
    figure.main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
