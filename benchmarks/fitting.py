"""``python -m benchmarks.fitting [ROWS ...]``: time and memory to fit the estimators.

Each fit runs in a process of its own, on ROWS × 50 numbers (10⁵ and 10⁶ by default), 2 % positive,
with the estimator's defaults on one thread, and on all of them. Peak memory is that of the process
less what it had with the rows in it. Writes ``fitting.json`` and prints the table. For a quiet
machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.memory import peak_bytes
from benchmarks.page import write_safely

COLUMNS, RATE = 50, 0.02
RESULTS = Path(__file__).parent / "fitting.json"
MODELS = ["LinearRanker", "NeuralRanker", "BoostedRanker", "BoostedRanker, xgboost"]
OBJECTIVES = ["log_loss", "ap"]


def rows(count: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((count, COLUMNS), dtype=np.float32)
    z = x[:, 0] + x[:, 1] * x[:, 2] + 0.5 * x[:, 3:8].sum(axis=1) + rng.normal(size=count)
    return x, (z > np.quantile(z, 1 - RATE)).astype(int)


def fit(model: str, objective: str, count: int) -> dict[str, float]:
    """In this process, which should do nothing else."""
    from rankwise import estimators  # noqa: PLC0415  (the parent needs neither it nor torch)

    name, _, engine = model.partition(", ")
    options: dict[str, Any] = {"engine": engine} if engine else {}
    ranker = getattr(estimators, name)(objective, random_state=0, **options)
    x, y = rows(count)
    before = _peak()
    begin, cpu = time.perf_counter(), time.process_time()
    ranker.fit(x, y)
    return {
        "wall": time.perf_counter() - begin,
        "cpu": time.process_time() - cpu,
        "megabytes": _peak() - before,
        "table": x.nbytes / 2**20,
        "training_metric": ranker.score(x[: 10**5], y[: 10**5]),
    }


def _peak() -> float:
    return peak_bytes() / 2**20


def in_process(model: str, objective: str, count: int, threads: int) -> dict[str, float]:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = {**os.environ, **dict.fromkeys(names, str(threads))}
    command = [sys.executable, "-m", "benchmarks.fitting", "fit", model, objective, str(count)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main(counts: list[int]) -> None:
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    every = sorted({1, os.cpu_count() or 1})
    for count in counts:
        for model in MODELS:
            for objective in OBJECTIVES:
                for threads in every:
                    key = f"{model}|{objective}|{count}|{threads}"
                    known[key] = in_process(model, objective, count, threads)
                    print(key, known[key], file=sys.stderr, flush=True)
                    write_safely(RESULTS, json.dumps(known, indent=1) + "\n")
    print(table(known))


def table(known: dict[str, dict[str, float]]) -> str:
    lines = [
        "| model, objective | rows × 50 | threads | wall, s | CPU, s | peak above the rows |",
        "|---|---|---|---|---|---|",
    ]
    for key, found in known.items():
        model, objective, count, threads = key.split("|")
        lines.append(
            f"| {model}, {objective} | {int(count):,} | {threads} | {found['wall']:.1f} | "
            f"{found['cpu']:.1f} | {found['megabytes']:.0f} MB "
            f"({found['megabytes'] / found['table']:.1f} × the table) |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:2] == ["fit"]:
        print(json.dumps(fit(sys.argv[2], sys.argv[3], int(sys.argv[4]))))
    else:
        main([int(count) for count in sys.argv[1:]] or [10**5, 10**6])
