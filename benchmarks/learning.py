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
from functools import partial
from pathlib import Path

import torch
from benchmarks.page import write_between
from rich.progress import Progress
from scipy import stats

from rankwise.baselines import ClassBalanced, CrossEntropy, Focal, SmoothAP
from rankwise.objectives import SOAP, SOPRC, StableAP
from reproductions.outer.tables import RATES, SETS, Maker, Split, load, train

SEEDS, EPOCHS, WARM_UP = 5, 40, 5
RESULTS = Path(__file__).parent / "learning.json"

LOSSES: dict[str, Maker] = {
    "cross-entropy": lambda y: CrossEntropy(),
    "focal": lambda y: Focal(),
    "class-balanced": lambda y: ClassBalanced(torch.bincount(y, minlength=2)),
    "SmoothAP": lambda y: SmoothAP(tau=0.1),
    "SOAP": lambda y: SOAP(float(y.float().mean()), len(y)),
    "SOPRC": lambda y: SOPRC(float(y.float().mean())),
    "StableAP": lambda y: StableAP(float(y.float().mean())),
}


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
    validation, test = train(splits, make, rate, seed, epochs=EPOCHS, warm_up=WARM_UP)
    return validation, test


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
