"""The metrics of long lists: sorts, intervals from one sort, histograms of bounded memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from benchmarks.memory import peak_bytes, peak_bytes_of
from benchmarks.timing import Result, measure_in_fresh_process

from rankwise.metrics import Metric, ScoreHistogram, auroc, average_precision

SIZE = 100_000_000
PART = 4_000_000
DAYS = 10


def _scores(n: int, share: float, seed: int = 0) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    target = (generator.random(n, dtype=np.float32) < share).astype(np.int8)
    scores = generator.standard_normal(n, dtype=np.float32)
    scores += target
    return scores, target


def _processor_seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def against_a_sort() -> Iterator[Result]:
    for share in (0.01, 0.5):
        scores, target = _scores(SIZE, share)
        sort = _processor_seconds(partial(np.sort, scores))
        for metric in (average_precision, auroc):
            # numba compiles once per process.
            metric(scores[:10_000_000], target[:10_000_000])
            taken = _processor_seconds(partial(metric, scores, target))
            what = f"{metric.__name__}, 10⁸ float32 scores, {100 * share:.0f} % positive"
            detail = {"ns_a_row": 1e9 * taken / SIZE, "sort_ns_a_row": 1e9 * sort / SIZE}
            yield Result(f"{what}, against np.sort", taken / sort, "×", "<= 1.5", detail)
            memory = peak_bytes_of(partial(metric, scores, target)) / SIZE
            yield Result(f"{what}, memory beyond the input", memory, "bytes a row", "<= 24")


def evaluation() -> Iterator[Result]:
    for n, limit in ((1_000_000, 15), (10_000_000, 120)):
        scores, target = _scores(n, 0.05)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "scores.parquet"
            pl.DataFrame({"y": target, "s": scores}).write_parquet(path)
            command = [sys.executable, "-m", "rankwise", "evaluate", str(path)]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            columns = ["--target", "y", "--score", "s"]
            subprocess.run([*command, *columns], check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        name = f"rankwise evaluate, {n:,} rows, all metrics with intervals, processor time"
        yield Result(name.replace(",000", " 000"), taken, "s", f"<= {limit}")


def histogram() -> Iterator[Result]:
    made: list[tuple[float, float]] = []

    def parts() -> Iterator[tuple[Any, Any]]:
        return (_scores(PART, 0.01, seed) for seed in range(SIZE // PART))

    def measure() -> None:
        counted = ScoreHistogram()
        for scores, target in parts():
            counted.add(scores, target)
        metrics = (Metric(average_precision), Metric(auroc))
        made.extend(counted.bounds(metric) for metric in metrics)
        made.extend(counted.refine(parts(), metrics))

    memory = peak_bytes_of(measure)
    detail = {"bounds": made}
    what = "ScoreHistogram of 10⁸ scores, 1 % positive, two passes"
    yield Result(f"{what}, memory", memory / 1e9, "GB", "<= 2", detail)
    gaps = [high - low for low, high in made]
    yield Result(f"{what}, greatest gap of the bounds after the first", max(gaps[:2]), "")
    yield Result(f"{what}, after the second", max(gaps[2:]), "", "<= 1e-10")


def bounded_evaluation() -> Iterator[Result]:
    """``rankwise evaluate`` of ten files of 10⁷ rows, in a process of its own."""
    for share in (0.01, 0.5):
        with tempfile.TemporaryDirectory() as folder:
            for day in range(DAYS):
                scores, target = _scores(SIZE // DAYS, share, day)
                frame = pl.DataFrame({"y": target, "s": scores})
                frame.write_parquet(Path(folder) / f"day{day}.parquet")
                del scores, target, frame
            found = measure_in_fresh_process("benchmarks.metrics_at_size", folder)
        what = f"rankwise evaluate of 10⁸ rows in {DAYS} files, {100 * share:.0f} % positive"
        yield Result(f"{what}, peak memory", found["peak"] / 1e9, "GB", "<= 2", found)
        yield Result(f"{what}, all metrics with intervals, processor time", found["cpu"], "s")
        yield Result(f"{what}, greatest gap of the bounds", found["gap"], "", "<= 1e-9")


def evaluate_days(folder: str) -> dict[str, Any]:
    """Evaluate the files of a folder in this process, which should do nothing else."""
    from rankwise.cli import app  # noqa: PLC0415  (the parent needs none of it)

    out = Path(folder) / "out.json"
    files = ["evaluate", f"{folder}/*.parquet", "--target", "y", "--score", "s"]
    wall = time.perf_counter()
    app([*files, "--json", str(out)], standalone_mode=False)
    wall = time.perf_counter() - wall
    numbers = json.loads(out.read_text())["metrics"]
    return {
        "peak": peak_bytes(),
        "cpu": time.process_time(),
        "wall": wall,
        "gap": max(each["highest"] - each["lowest"] for each in numbers.values()),
        "metrics": numbers,
    }


ALL = [against_a_sort, evaluation, histogram, bounded_evaluation]


if __name__ == "__main__":
    print(json.dumps(evaluate_days(sys.argv[1])))
