"""Do ranking losses gain more than SupCon from more images of a class in a batch?

``python -m benchmarks.checks.class_images DIR --out FOLDER`` with DIR the folder of the study
``retrieval`` (images and weights). Heads on kept features with the study's own settings, batches of
28 classes × 4 images, of more images by class and of more classes; mAP on the validation classes,
each with the best of the study's rates by the mean of the seeds. Features and runs are kept.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import mean

import torch
from rich.console import Console
from rich.table import Table

from reproductions.frame import Runs, Setting
from reproductions.retrieval.benches import Pretrained, Trial
from reproductions.retrieval.features import features_of
from reproductions.retrieval.methods import METHODS, Method
from reproductions.retrieval.plan import Plan

SHAPES = {"Omniglot": ((28, 4), (28, 12), (80, 4)), "CIFAR-100": ((28, 4), (28, 16))}
NAMES, SEEDS = ("SupCon", "SOPRC", "StableAP"), 2


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.checks.class_images")
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    plan = Plan.of(Setting(data=asked.data))
    runs = Runs(asked.out, {"steps": plan.pretrained.steps, "rates": plan.pretrained.rates})
    methods = [method for method in METHODS if method.name in NAMES]
    for problem in plan.problems:
        path = asked.out / f"features_{problem.name}.npz"
        features = features_of(problem.splits, plan.extractor, plan.extractor_views, path)
        bench = Pretrained(problem, plan, features)
        shapes = SHAPES[problem.name]
        table = Table(
            "", *(f"{c} × {k}" for c, k in shapes), title=f"{problem.name}, {SEEDS} seeds"
        )
        for method in methods:
            table.add_row(method.name, *(_best(bench, method, shape, runs) for shape in shapes))
        Console().print(table)


def _best(bench: Pretrained, method: Method, shape: tuple[int, int], runs: Runs) -> str:
    here = replace(bench, plan=replace(bench.plan, classes=shape[0], per_class=shape[1]))
    found = []
    for rate in bench.budget.rates:
        trials = [Trial(method, method.tries[0], rate, 3000 + seed) for seed in range(SEEDS)]
        names = [f"{bench.problem.name}/{method.name}/{shape}/{rate}/{t.seed}" for t in trials]
        each = [
            runs.get(name, partial(_run, here, trial))
            for name, trial in zip(names, trials, strict=True)
        ]
        found.append(each)
    best = max(found, key=mean)
    return f"{mean(best):.4f} ({min(best):.4f} to {max(best):.4f})"


def _run(bench: Pretrained, trial: Trial) -> float:
    return max(row["map"] for row in bench.train(trial)[1])


if __name__ == "__main__":
    main()
