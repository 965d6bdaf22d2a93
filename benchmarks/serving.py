"""Rows per second of saved trees: lookup tables in numpy, ONNX, and the library's own predict.

``python -m benchmarks.serving`` prints a Markdown table. Processor time of one thread, the best of
five repeats, on 20 columns of normal random numbers with 10 % missing values; two
sets of 100 trees each.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import onnxruntime

from rankwise.estimators import BoostedRanker
from rankwise.serving import export_onnx, load_scorer

ROWS, COLUMNS, REPEATS = 20_000, 20, 5


def main() -> None:
    """Measure both engines, with small and large trees, on many rows and on one."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(ROWS, COLUMNS))
    rows[rng.random(rows.shape) < 0.1] = np.nan
    y = np.nan_to_num(rows[:, 0]) + np.nan_to_num(rows[:, 1]) + rng.normal(size=ROWS) > 2.5
    print(
        "| engine | leaves | rows | numpy, rows/s | ONNX, rows/s | library, rows/s | difference |"
    )
    print("|---|---|---|---|---|---|---|")
    engines: tuple[Literal["lightgbm", "xgboost"], ...] = ("lightgbm", "xgboost")
    for engine in engines:
        for leaves in (31, 128):
            _measure(engine, leaves, rows, y)


def _measure(
    engine: Literal["lightgbm", "xgboost"], leaves: int, rows: np.ndarray, y: np.ndarray
) -> None:
    model = BoostedRanker(
        "ap",
        engine=engine,
        num_leaves=leaves,
        n_estimators=100,
        early_stopping_rounds=None,
        n_jobs=1,
        random_state=0,
    ).fit(rows, y)
    with tempfile.TemporaryDirectory() as folder:
        path = model.save(Path(folder) / "model.rank")
        scorer = load_scorer(path)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        graph = export_onnx(path, Path(folder) / "model.onnx")
        session = onnxruntime.InferenceSession(graph, options)
    for given in (rows, rows[:1]):
        library = model.decision_function(given)
        worst = np.abs(scorer.scores(given) - library).max()
        calls = (scorer.scores, lambda r: session.run(["score"], {"X": r}), model.decision_function)
        speeds = " | ".join(f"{_speed(call, given):,.0f}" for call in calls)
        print(f"| {engine} | {leaves} | {len(given):,} | {speeds} | {worst:.0e} |", flush=True)


def _speed(call: Callable[[np.ndarray], object], rows: np.ndarray) -> float:
    """Return rows per second of processor time."""
    times, calls = [], max(1, 100 // len(rows))
    for _ in range(REPEATS):
        start = time.process_time()
        for _ in range(calls):
            call(rows)
        times.append((time.process_time() - start) / calls)
    return len(rows) / min(times)


if __name__ == "__main__":
    main()
