"""Does it learn? Test AP of the same small network on real imbalanced tables, every loss alike.

``python -m benchmarks.learning DIR [LOSS ...]`` with DIR the folder of the shared data sets (it is
not part of this repository); with names of losses the others keep their last results. Every loss
gets the same network, splits, warm start, number of steps and choice of learning rates; the rate
and the epoch are chosen on validation AP. Writes ``learning.json`` and the table in README.md.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import polars
import torch
from benchmarks.page import write_between
from rich.progress import Progress
from scipy import stats
from torch import Tensor, nn

from rankwise.baselines import ClassBalanced, CrossEntropy, Focal, SmoothAP
from rankwise.metrics import average_precision
from rankwise.objectives import SOAP, SOPRC, Objective, StableAP

SETS = {"mammography": "target", "aloi": "target", "campaign": "target"}
SEEDS, EPOCHS, WARM_UP, BATCH, RATES = 5, 40, 5, 512, (1e-3, 3e-3)
RESULTS = Path(__file__).parent / "learning.json"

Split = tuple[Tensor, Tensor]
Maker = Callable[[Tensor], Objective]

LOSSES: dict[str, Maker] = {
    "cross-entropy": lambda y: CrossEntropy(),
    "focal": lambda y: Focal(),
    "class-balanced": lambda y: ClassBalanced(torch.bincount(y, minlength=2)),
    "SmoothAP": lambda y: SmoothAP(tau=0.1),
    "SOAP": lambda y: SOAP(float(y.float().mean()), len(y)),
    "SOPRC": lambda y: SOPRC(float(y.float().mean())),
    "StableAP": lambda y: StableAP(float(y.float().mean())),
}


def load(folder: Path, name: str, seed: int) -> list[Split]:
    """Train, validation and test, 60:20:20 within each class, columns standardized."""
    table = polars.read_parquet(folder / "tabular" / f"{name}.parquet")
    y = torch.tensor(table[SETS[name]].to_numpy()).long()
    x = torch.tensor(table.drop(SETS[name]).to_numpy()).float()
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


def train(splits: list[Split], make: Maker, rate: float, seed: int) -> tuple[float, float]:
    """Best validation AP over the epochs and the test AP of that epoch."""
    (x, y), validation, test = splits
    torch.manual_seed(seed)
    sizes = (x.shape[1], 64, 64)
    layers = [m for i in range(2) for m in (nn.Linear(sizes[i], sizes[i + 1]), nn.ReLU())]
    network = nn.Sequential(*layers, nn.Linear(64, 1), nn.Flatten(0))
    optimizer = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=1e-4)
    loss, warm = make(y), CrossEntropy()
    best = (-1.0, -1.0)
    for epoch in range(EPOCHS):
        for rows in torch.randperm(len(y)).split(BATCH):
            optimizer.zero_grad()
            scores = network(x[rows])
            value = (
                warm(scores, y[rows]) if epoch < WARM_UP else loss(scores, y[rows], item_ids=rows)
            )
            value.backward()
            optimizer.step()
        with torch.no_grad():
            seen = [float(average_precision(network(a), b)) for a, b in (validation, test)]
        best = max(best, (seen[0], seen[1]))
    return best


def main(folder: Path, wanted: list[str]) -> None:
    torch.set_num_threads(1)
    losses = {name: make for name, make in LOSSES.items() if not wanted or name in wanted}
    results: dict[str, dict[str, list[float]]] = {name: {} for name in SETS}
    if wanted:
        results = json.loads(RESULTS.read_text())["test_ap"]
    sizes = {}
    with Progress() as progress:
        task = progress.add_task("training", total=len(SETS) * len(losses) * SEEDS)
        for name in SETS:
            results[name] |= {loss: [] for loss in losses}
            for seed in range(SEEDS):
                splits = load(folder, name, seed)
                sizes[name] = [sum(len(y) for _, y in splits), float(splits[0][1].float().mean())]
                for label, make in losses.items():
                    chosen = max(map(partial(_run, splits, make, seed), RATES))
                    results[name][label].append(chosen[1])
                    progress.advance(task)
            for label, values in results[name].items():
                progress.console.print(f"{name:14s} {label:16s} {interval(values)}")
    RESULTS.write_text(json.dumps({"sizes": sizes, "test_ap": results}, indent=1) + "\n")
    write_between("learning", table(results, sizes))


def _run(splits: list[Split], make: Maker, seed: int, rate: float) -> tuple[float, float]:
    return train(splits, make, rate, seed)


def interval(values: list[float]) -> str:
    n = len(values)
    mean, error = sum(values) / n, float(torch.tensor(values).std()) / math.sqrt(n)
    return f"{mean:.3f} ± {float(stats.t.ppf(0.975, n - 1)) * error:.3f}"


def table(results: dict[str, dict[str, list[float]]], sizes: dict[str, list[float]]) -> str:
    heads = [f"{name} ({n:,.0f} rows, {rate:.1%} positive)" for name, (n, rate) in sizes.items()]
    lines = ["| loss | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for label in LOSSES:
        cells = " | ".join(interval(results[s][label]) for s in sizes)
        lines += [f"| {label} | {cells} |"]
    for ours in ("SOPRC", "StableAP"):
        differences = (
            [a - b for a, b in zip(results[s][ours], results[s]["cross-entropy"], strict=True)]
            for s in sizes
        )
        cells = " | ".join(interval(values) for values in differences)
        lines += [f"| {ours} − cross-entropy, paired | {cells} |"]
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) < 2 or not (Path(sys.argv[1]) / "tabular").is_dir():
        sys.exit("usage: python -m benchmarks.learning DIR [LOSS ...]; DIR holds tabular/")
    main(Path(sys.argv[1]), sys.argv[2:])
