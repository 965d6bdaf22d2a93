"""Recommendation with many users and items: what a step and an evaluation cost.

Processor time on one thread: a ratio of two calls that were taken in turns.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from benchmarks.memory import peak_bytes
from benchmarks.timing import Result, measure_in_fresh_process

from rankwise.data.interactions import Interactions
from rankwise.tasks.recommendation import (
    DEFAULT,
    Pairs,
    Scores,
    Settings,
    evaluate,
    measure_of,
    prepared,
)
from rankwise.tasks.recommendation.tiles import ROWS, TILE
from rankwise.tasks.recommendation.training import RecommendTask
from rankwise.training import Learner

USERS, ITEMS, DIMENSION = 2_048, 100_000, 64


def touched_rows() -> list[Result]:
    """A step over a table of 500,000 users, to one over a table of 100,000."""
    torch.set_num_threads(1)
    settings = Settings(temperature=0.1, negatives="256", batch=2048)
    learners = [_learner(users, settings) for users in (100_000, 500_000)]
    small, large = _processor_seconds([_steps(learner) for learner in learners])
    what = f"a step of {settings.batch:,} positives and 256 negatives, 500,000 users"
    detail = {"100,000 users": small, "500,000 users": large}
    return [Result(what, large / small, "× that of 100,000 users", "<= 1.5", detail)]


def tiled_evaluation() -> list[Result]:
    """The six metrics of users against a large catalog, over the product alone."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    generator = torch.Generator().manual_seed(0)
    users = torch.randn(USERS, DIMENSION, generator=generator)
    items = torch.randn(ITEMS, DIMENSION, generator=generator)
    cells = np.unique(np.repeat(np.arange(USERS), 10) * ITEMS + rng.integers(0, ITEMS, 10 * USERS))
    is_seen = rng.random(len(cells)) < 0.8
    seen, wanted = (
        Pairs.of(some // ITEMS, some % ITEMS, USERS, ITEMS)
        for some in (cells[is_seen], cells[~is_seen])
    )
    scores = Scores(lambda codes: users[codes], items)
    measures = [measure_of(name) for name in DEFAULT]

    def product() -> None:
        buffer = torch.empty(ROWS * TILE)
        for some in users.split(ROWS):
            for tile in items.split(TILE):
                out = buffer[: len(some) * len(tile)].view(len(some), len(tile))
                torch.mm(some, tile.T, out=out)

    ours, bare = _processor_seconds([lambda: evaluate(scores, wanted, seen, measures), product])
    what = f"evaluation, {USERS:,} users × {ITEMS:,} items, {DIMENSION}-d, {len(measures)} metrics"
    detail = {"evaluation": ours, "product in blocks": bare}
    return [Result(what, ours / bare, "× the product in blocks", "<= 1.5", detail)]


def write_interactions(path: Path, count: int, users: int, items: int) -> None:
    """Write drawn interactions, items by a power of their rank; a user has an item once."""
    import polars as pl  # noqa: PLC0415

    rng, cells = np.random.default_rng(0), np.empty(0, dtype=np.int64)
    while len(cells) < count:
        drawn = rng.integers(0, users, count) * items
        drawn += (items * rng.random(count) ** 2).astype(np.int64)
        cells = np.unique(np.concatenate([cells, drawn]))
    cells = rng.permutation(cells)[:count]
    pl.DataFrame({"user": cells // items, "item": cells % items}).write_parquet(path)


def read_and_train(path: str) -> dict[str, float]:
    """Read interactions and train one epoch, in this process, which should do nothing else."""
    from rankwise.data.interactions import read_interactions  # noqa: PLC0415
    from rankwise.tasks.recommendation.training import train  # noqa: PLC0415

    torch.set_num_threads(1)
    start = time.process_time()
    settings = Settings(epochs=1, warm_start=0, temperature=0.1, refit=False)
    problem = prepared(read_interactions(path), settings)
    read = time.process_time()
    train(problem, settings, None)
    peak = peak_bytes()
    return {"read": read - start, "epoch": time.process_time() - read, "peak": peak}


def ten_million() -> Iterator[Result]:
    """10⁷ interactions of 10⁶ users with 10⁵ items: one epoch with its validation."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "interactions.parquet"
        write_interactions(path, 10_000_000, 1_000_000, 100_000)
        found = measure_in_fresh_process("benchmarks.recommendation_scale", str(path))
    what = "10⁷ interactions, 10⁶ users, 10⁵ items"
    yield Result(f"{what}, reading and splitting, processor time", found["read"], "s")
    name = f"{what}, an epoch of mf with validation, processor time (10 min on two cores)"
    yield Result(name, found["epoch"], "s", "<= 1200", found)
    yield Result(f"{what}, peak memory", found["peak"] / 1e9, "GB", "<= 6")


ALL = (touched_rows, tiled_evaluation, ten_million)


def _learner(users: int, settings: Settings) -> Learner[object]:
    rng = np.random.default_rng(0)
    n_items = 70_000
    cells = rng.permutation(np.unique(rng.integers(0, users * n_items, 400_000)))
    data = Interactions(
        Path("drawn"),
        cells // n_items,
        cells % n_items,
        np.ones(len(cells)),
        None,
        tuple(map(str, range(users))),
        tuple(map(str, range(n_items))),
    )
    return Learner(RecommendTask(prepared(data, settings), settings))  # type: ignore[arg-type]


def _steps(learner: Learner[object]) -> Callable[[], object]:
    batches = learner.task.batches(0)
    return lambda: learner.step(next(batches))


def _processor_seconds(calls: list[Callable[[], object]], repeats: int = 7) -> list[float]:
    """The least processor time of several calls, taken in turns after a first one."""
    taken: list[list[float]] = [[] for _ in calls]
    for _ in range(repeats + 1):
        for call, times in zip(calls, taken, strict=True):
            start = time.process_time()
            call()
            times.append(time.process_time() - start)
    return [min(times[1:]) for times in taken]


if __name__ == "__main__":
    print(json.dumps(read_and_train(sys.argv[1])))
