"""Tables: a small network on rows of two classes, AP; also what ``benchmarks.learning`` trains."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

import polars
import torch
from torch import Tensor, nn

from rankwise import objective as by_name
from rankwise.baselines import CrossEntropy
from rankwise.data import DataError
from rankwise.metrics import average_precision
from rankwise.objectives import Objective
from reproductions.outer.arms import TABLES
from reproductions.outer.problem import Arm, Outcome, Problem

SETS = {"mammography": "target", "aloi": "target", "campaign": "target"}
BATCH, RATES = 512, (1e-3, 3e-3)

Split = tuple[Tensor, Tensor]
Maker = Callable[[Tensor], Objective]


def load(folder: Path, name: str, seed: int) -> list[Split]:
    """Train, validation and test, 60:20:20 within each class, columns standardized."""
    path = folder / "tabular" / f"{name}.parquet"
    if not path.is_file():
        raise DataError(f"{path}: is not there; --data must hold tabular/{name}.parquet")
    table = polars.read_parquet(path)
    y = torch.tensor(table[SETS[name]].to_numpy()).long()
    x = torch.tensor(table.drop(SETS[name]).to_numpy()).float()
    return split_rows(x, y, seed)


def split_rows(x: Tensor, y: Tensor, seed: int) -> list[Split]:
    """Split rows 60:20:20 within each class and standardize the columns by the first part."""
    generator = torch.Generator().manual_seed(seed)
    parts: list[list[Tensor]] = [[], [], []]
    for value in (0, 1):
        rows = (y == value).nonzero().squeeze(1)
        rows = rows[torch.randperm(len(rows), generator=generator)]
        cuts = [int(0.6 * len(rows)), int(0.8 * len(rows))]
        for part, some in zip(parts, torch.tensor_split(rows, cuts), strict=True):
            part.append(some)
    chosen = [torch.cat(part) for part in parts]
    mean, deviation = x[chosen[0]].mean(0), x[chosen[0]].std(0).clamp_min(1e-6)
    x = ((x - mean) / deviation).clamp(-10, 10)
    return [(x[rows], y[rows]) for rows in chosen]


def train(
    splits: list[Split], make: Maker, rate: float, seed: int, *, epochs: int, warm_up: int
) -> tuple[float, ...]:
    """AP of the epoch with the best validation, on every part after the first.

    The first ``warm_up`` epochs are of cross-entropy.
    """
    (x, y), *others = splits
    torch.manual_seed(seed)
    sizes = (x.shape[1], 64, 64)
    layers = [m for i in range(2) for m in (nn.Linear(sizes[i], sizes[i + 1]), nn.ReLU())]
    network = nn.Sequential(*layers, nn.Linear(64, 1), nn.Flatten(0))
    optimizer = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=1e-4)
    loss, warm = make(y), CrossEntropy()
    best: tuple[float, ...] = (-1.0,) * len(others)
    for epoch in range(epochs):
        for rows in torch.randperm(len(y)).split(BATCH):
            optimizer.zero_grad()
            scores = network(x[rows])
            value = (
                warm(scores, y[rows]) if epoch < warm_up else loss(scores, y[rows], item_ids=rows)
            )
            value.backward()
            optimizer.step()
        with torch.no_grad():
            seen = tuple(float(average_precision(network(a), b)) for a, b in others)
        best = max(best, seen)
    return best


def table_problems(folder: Path, epochs: int) -> list[Problem]:
    """Problems of three ADBench sets."""
    readers = {name: lru_cache(maxsize=1)(partial(load, folder, name)) for name in SETS}
    return [row_problem(name, read, epochs) for name, read in readers.items()]


def row_problem(name: str, read: Callable[[int], list[Split]], epochs: int) -> Problem:
    """Problem of rows in two classes; the seed splits them."""

    def run(arm: Arm, seed: int, test: bool) -> Outcome:
        splits = read(seed)[: 3 if test else 2]  # without a test its rows are not looked at
        steps = epochs * -(-len(splits[0][1]) // BATCH)

        def make(y: Tensor) -> Objective:
            prior = float(y.float().mean())
            made = by_name(arm.objective_of(steps), prior=prior, num_items=len(y), num_lists=1)
            assert isinstance(made, Objective)
            return made

        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            # The last rows of an epoch may have one class only.
            warnings.filterwarnings("ignore", ".*no list of this batch", RuntimeWarning)
            found = max(train(splits, make, rate, seed, epochs=epochs, warm_up=0) for rate in RATES)
        return Outcome(*found)

    return Problem(TABLES, name, "AP", run)
