"""Why ours are not first on two sets of the study ``longtail``: questions written before the runs.

``python -m benchmarks.checks.longtail_reasons DIR --out OUT`` with DIR the folder of images of the
study. Every seed has a split, a draw of the tail and a training of its own, so that intervals
are over images, too; the study's own split has none of these seeds. Settings are fixed here and
chosen by nothing that is measured here. The intervals hold for all comparisons together
(Bonferroni). Runs are kept in ``--out``: the same command goes on where it was stopped, and
``--set`` does one of the two sets, in a process of its own if one likes.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from benchmarks.checks.longtail import trained_by
from rich.console import Console
from rich.table import Table

from rankwise.tasks.classification.evaluate import evaluate
from rankwise.theory import mean_of
from reproductions.frame import Runs, Setting
from reproductions.longtail.measure import Plan
from reproductions.longtail.methods import Choice
from reproductions.longtail.problems import CIFAR_100, RARE, Problem

Row = dict[str, float]

_FIRST_SEED = 2100  # none of the study, and none of ``benchmarks.checks.longtail``
_SEEDS = {CIFAR_100: 12, RARE: 20}


@dataclass(frozen=True)
class Comparison:
    """The mean of ``one`` less ``other`` on the same seeds, by one outcome of a run."""

    data_set: str
    question: str
    one: str
    other: str
    outcome: str  # "last": validation and test images at the last step; "test": at the best step


def _linear(objective: str, rate: float = 0.002) -> Choice:
    return Choice(objective, rate, "linear")


_SIGMOID = "stable_ap(tau=.5, score_scale=1, squash=True)"
# SOPRC by its parts, without its memory of quantiles: the shape of the pair loss can be exchanged.
_PARTS = "ap(prior=.02, false_positives={}(1), true_positives=OneSidedSigmoid(.01))"

ARMS: dict[str, dict[str, Choice]] = {
    CIFAR_100: {
        "CE .002": _linear("cross_entropy"),
        "Focal .002": _linear("focal"),
        "Focal .005": _linear("focal", 0.005),
        "LDAM .002": Choice("ldam(defer={defer})", 0.002, "cosine", balanced=False),
        "SmoothAP .002": _linear("smooth_ap(tau=1)"),
        "SOPRC .002": _linear("soprc(tau_fpr=1)"),
        "StableAP .002": _linear("stable_ap(tau=.5)"),
        "StableAP .005": _linear("stable_ap(tau=.5)", 0.005),
    },
    RARE: {
        "CE": _linear("cross_entropy"),
        "SmoothAP": _linear("smooth_ap(tau=1)"),
        "StableAP, sigmoid": _linear(_SIGMOID),
        "StableAP, sigmoid, given .5": _linear(_SIGMOID.replace(")", ", prior=.5)")),
        "StableAP": _linear("stable_ap(tau=.5)"),
        "StableAP, given .5": _linear("stable_ap(tau=.5, prior=.5)"),
        "StableAP, t = 0": _linear("stable_ap(tau=.5, t=0)"),
        "SOPRC": _linear("soprc(tau_fpr=1)"),
        "SOPRC, given .5": _linear("soprc(tau_fpr=1, prior=.5)"),
        "Huber": _linear(_PARTS.format("OneSidedHuber")),
        "Sigmoid": _linear(_PARTS.format("Sigmoid")),
    },
}
# The test images of the second set are positive by one half, the training images by 2 %, and an
# average precision is one of the share that it is evaluated at: hence "given .5".
COMPARISONS = (
    Comparison(CIFAR_100, "is it the rate?", "StableAP .002", "StableAP .005", "last"),
    Comparison(CIFAR_100, "the rate of others, too?", "Focal .002", "Focal .005", "last"),
    Comparison(CIFAR_100, "is it the loss?", "StableAP .002", "Focal .002", "last"),
    Comparison(CIFAR_100, "is it the loss?", "StableAP .002", "CE .002", "last"),
    Comparison(CIFAR_100, "is it the loss?", "SOPRC .002", "CE .002", "last"),
    Comparison(CIFAR_100, "is it this split?", "StableAP .005", "LDAM .002", "test"),
    Comparison(RARE, "the share?", "StableAP, sigmoid, given .5", "StableAP, sigmoid", "test"),
    Comparison(RARE, "the share?", "StableAP, given .5", "StableAP", "test"),
    Comparison(RARE, "the share?", "SOPRC, given .5", "SOPRC", "test"),
    Comparison(RARE, "the scale?", "StableAP, sigmoid", "StableAP", "test"),
    Comparison(RARE, "the weights?", "StableAP, t = 0", "StableAP", "test"),
    Comparison(RARE, "the shape?", "Sigmoid", "Huber", "test"),
    Comparison(RARE, "is it this split?", "StableAP, sigmoid", "SmoothAP", "test"),
    Comparison(RARE, "is it this split?", "SOPRC", "SmoothAP", "test"),
)
# What the docs say beside these, asked only when the runs were done.
AFTERWARDS = (
    Comparison(CIFAR_100, "the study's settings", "StableAP .005", "Focal .002", "last"),
    Comparison(RARE, "the study's settings", "StableAP", "SmoothAP", "test"),
    Comparison(RARE, "the study's settings", "StableAP", "SmoothAP", "last"),
    Comparison(RARE, "the pace", "SOPRC", "SmoothAP", "last"),
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.checks.longtail_reasons", description=__doc__
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--set", choices=list(ARMS), default=None)
    parser.add_argument("--out", type=Path, default=None)
    asked = parser.parse_args(arguments)
    torch.set_num_threads(1)
    plan = Plan.of(Setting(data=asked.data))
    runs = Runs(asked.out, plan.asked(0))
    for data_set in ARMS if asked.set is None else [asked.set]:
        found = _measure(plan, runs, data_set)
        Console().print(_levels(data_set, found), _differences(data_set, found, COMPARISONS))
        Console().print("Not asked beforehand:", _differences(data_set, found, AFTERWARDS))


def _measure(plan: Plan, runs: Runs, data_set: str) -> dict[str, list[Row]]:
    """The rows of every arm, one for a seed: the mean over the problems of the set."""
    problems = [problem for problem in plan.problems if problem.data_set == data_set]
    found: dict[str, list[Row]] = {arm: [] for arm in ARMS[data_set]}
    for seed in range(_FIRST_SEED, _FIRST_SEED + _SEEDS[data_set]):
        for arm, choice in ARMS[data_set].items():
            rows = [
                runs.get(
                    f"{p.data_set}/{p.name}/{arm}/{seed}", partial(_run, plan, p, choice, seed)
                )
                for p in problems
            ]
            mean = {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}
            found[arm].append(mean)
            print(seed, arm, {name: round(value, 4) for name, value in mean.items()}, flush=True)
    return found


def _run(plan: Plan, problem: Problem, choice: Choice, seed: int) -> Row:
    splits = problem.open(seed)
    trained, settings = trained_by(plan, splits, choice, seed)
    best = evaluate(trained.network, splits.test, settings).map
    trained.network.load_state_dict(trained.last)
    parts = splits.train, splits.validation, splits.test
    training, validation, test = (evaluate(trained.network, p, settings).map for p in parts)
    return {
        "step": trained.best_step,
        "best validation": max(row["map"] for row in trained.history),
        "test": best,
        "last": (validation + test) / 2,
        "last training": training,
    }


def _levels(data_set: str, found: dict[str, list[Row]]) -> Table:
    table = Table("arm", title=f"{data_set}: AP in per cent, mean ± 95 % over {_SEEDS[data_set]}")
    names = [name for name in next(iter(found.values()))[0] if name != "step"]
    for name in names:
        table.add_column(name)
    for arm, rows in found.items():
        table.add_row(arm, *(_interval([row[name] for row in rows]) for name in names))
    return table


def _differences(
    data_set: str, found: dict[str, list[Row]], comparisons: Sequence[Comparison]
) -> Table:
    """Those of one set; the last column holds for all the comparisons, of both sets, together."""
    level = 1 - 0.05 / len(comparisons)
    table = Table(
        "question", "one", "less", "by", "difference", "95 % alone", f"95 % of {len(comparisons)}"
    )
    for asked in (one for one in comparisons if one.data_set == data_set):
        pairs = zip(found[asked.one], found[asked.other], strict=True)
        less = mean_of([one[asked.outcome] - other[asked.outcome] for one, other in pairs])
        widths = (f"± {100 * less.half_width(at):.1f}" for at in (0.95, level))
        about = (asked.question, asked.one, asked.other, asked.outcome)
        table.add_row(*about, f"{100 * less.value:+.1f}", *widths)
    return table


def _interval(values: list[float]) -> str:
    mean = mean_of(values)
    return f"{100 * mean.value:.1f} ± {100 * mean.half_width():.1f}"


if __name__ == "__main__":
    main()
