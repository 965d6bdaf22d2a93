"""Rows per second of saved trees: lookup tables in numpy, ONNX, and the library's own predict.

Processor time of one thread, the best of five repeats, on 20 columns of normal random numbers with
10 % missing values; two sets of 100 trees each.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnxruntime
from benchmarks.timing import Result
from numpy.typing import NDArray

from rankwise.estimators import BoostedRanker
from rankwise.serving import export_onnx, load_scorer

ROWS, COLUMNS, REPEATS = 20_000, 20, 5
Floats = NDArray[np.float64]


def trees() -> Iterator[Result]:
    """Measure both engines, with small and large trees, on many rows and on one."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(ROWS, COLUMNS))
    rows[rng.random(rows.shape) < 0.1] = np.nan
    y = np.nan_to_num(rows[:, 0]) + np.nan_to_num(rows[:, 1]) + rng.normal(size=ROWS) > 2.5
    engines: tuple[Literal["lightgbm", "xgboost"], ...] = ("lightgbm", "xgboost")
    for engine in engines:
        for leaves in (31, 128):
            yield from _measured(engine, leaves, rows, y)


def _measured(
    engine: Literal["lightgbm", "xgboost"], leaves: int, rows: Floats, y: NDArray[np.bool_]
) -> Iterator[Result]:
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

    def onnx(given: Floats) -> Any:
        return session.run(["score"], {"X": given})[0]

    calls: dict[str, Callable[[Floats], Any]] = {"numpy": scorer.scores, "ONNX": onnx}
    for given, size in ((rows, "20 000 rows"), (rows[:1], "1 row")):
        library = _speed(model.decision_function, given)
        for name, call in calls.items():
            own = _speed(call, given)
            detail = {"rows_per_second": own, "library_rows_per_second": library}
            what = f"{engine}, {leaves} leaves, {size}: {name}"
            yield Result(what, own / library, "× the rows per second of the library", "", detail)
    wanted = model.decision_function(rows)
    for name, call in calls.items():
        worst = float(np.abs(call(rows).ravel() - wanted).max())
        what = f"{engine}, {leaves} leaves: {name}, greatest difference to the library"
        yield Result(what, worst, "", "<= 1e-6")


def _speed(call: Callable[[Floats], object], rows: Floats) -> float:
    """Return rows per second of processor time."""
    times, calls = [], max(1, 100 // len(rows))
    for _ in range(REPEATS):
        start = time.process_time()
        for _ in range(calls):
            call(rows)
        times.append((time.process_time() - start) / calls)
    return len(rows) / min(times)


ALL = [trees]
