"""Losses on one problem of the study ``longtail``, evaluated on its validation images only.

``python -m benchmarks.checks.longtail DIR --problem "CIFAR-10, 2 %" --seeds 8 smooth_ap(tau=1) …``
with DIR the folder of images that the study takes. An objective is a name of the grammar, with
``@cosine`` behind it for a head of cosines. Prints validation AP, best and last, AP on the training
images of the best step, and differences from the first objective on the same seeds. Runs are kept
in ``--out``, and the same command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from rankwise.data.images.image_set import ClassSplits
from rankwise.tasks.classification.evaluate import evaluate
from rankwise.tasks.classification.settings import Settings
from rankwise.tasks.classification.task import Classifier, train
from rankwise.theory import mean_of
from rankwise.vision.run import Trained
from reproductions.frame import Runs, Setting
from reproductions.longtail.measure import Plan, settings_of
from reproductions.longtail.methods import METHODS, Choice, Method
from reproductions.longtail.problems import Problem

_FIRST_SEED = 2000  # neither those of the study's tuning nor those that it reports


def main(arguments: Sequence[str] | None = None) -> None:
    asked = _parser().parse_args(arguments)
    torch.set_num_threads(1)
    plan = Plan.of(Setting(data=asked.data))
    plan = replace(
        plan,
        steps=asked.steps,
        every=max(1, asked.steps // 12),
        warm_start=round(0.3 * asked.steps),
        positives=asked.positives,
        size=asked.size,
    )
    names = asked.problem.split(": ")
    problem = next(p for p in plan.problems if [p.data_set, p.name][: len(names)] == names)
    runs = Runs(asked.out, plan.asked(0) | {"rate": asked.rate})
    found: dict[str, list[dict[str, float]]] = {}
    for seed in range(_FIRST_SEED, _FIRST_SEED + asked.seeds):
        for words in asked.objectives:
            name = f"{problem.data_set}/{problem.name}/{words}/{seed}"
            row = runs.get(name, partial(_run, plan, problem, words, asked.rate, seed))
            found.setdefault(words, []).append(row)
            print(seed, words, {name: round(value, 4) for name, value in row.items()}, flush=True)
    Console().print(_table(found, f"{problem.data_set}, {problem.name}, {asked.seeds} seeds"))


def _run(plan: Plan, problem: Problem, words: str, rate: float, seed: int) -> dict[str, float]:
    name, _, head = words.partition("@")
    choice = Choice(name, rate, head or "linear")
    trained, settings = trained_by(plan, problem.open(0), choice, seed)
    return {
        "best": max(row["map"] for row in trained.history),
        "last": trained.history[-1]["map"],
        "step": trained.best_step,
        "training": evaluate(trained.network, problem.open(0).train, settings).map,
    }


def trained_by(
    plan: Plan, splits: ClassSplits, choice: Choice, seed: int
) -> tuple[Trained[Classifier], Settings]:
    """One training of the study, with a setting that it need not have among its own."""
    plain = {method.objective for method in METHODS if not method.ranking}
    method = Method(choice.objective, choice.objective, ranking=choice.objective not in plain)
    settings = settings_of(plan, splits, method, choice, seed)
    return train(splits, settings), settings


def _table(found: dict[str, list[dict[str, float]]], title: str) -> Table:
    table = Table("objective", "validation", "less the first", "last", "training", title=title)
    first = next(iter(found.values()))
    for words, rows in found.items():
        less = [a["best"] - b["best"] for a, b in zip(rows, first, strict=True)]
        parts = [_interval([row[name] for row in rows]) for name in ("best", "last", "training")]
        table.add_row(words, parts[0], _interval(less), *parts[1:])
    return table


def _interval(values: list[float]) -> str:
    if len(values) < 2:
        return f"{100 * values[0]:.1f}"
    mean = mean_of(torch.tensor(values))
    return f"{100 * mean.value:.1f} ± {100 * mean.half_width():.1f}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.checks.longtail", description=__doc__
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("objectives", nargs="+")
    parser.add_argument("--problem", default="CIFAR-10, 2 %")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--rate", type=float, default=0.002)
    parser.add_argument("--positives", type=int, default=16)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--out", type=Path, default=None)
    return parser


if __name__ == "__main__":
    main()
