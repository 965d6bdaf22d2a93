"""Retrieval of unseen classes: a small network from scratch, and heads on kept features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor

from rankwise.data.images import RetrievalSplits
from rankwise.retrieval import evaluate
from rankwise.tasks.retrieval.settings import Network
from rankwise.vision.settings import Augmentations
from reproductions.outer.arms import RETRIEVAL
from reproductions.outer.problem import Arm, Outcome
from reproductions.outer.problem import Problem as Task
from reproductions.retrieval.benches import Bench, Pretrained, Scratch, Trial
from reproductions.retrieval.features import Features, Part, features_of
from reproductions.retrieval.methods import Method
from reproductions.retrieval.plan import Budget, Plan
from reproductions.retrieval.problem import Problem

SHARE = 0.2  # of the training classes, for validation


def scratch_problem(
    name: str, read: Callable[[int], RetrievalSplits], views: Augmentations, plan: Plan
) -> Task:
    """A small network on the images; ``read`` gives the split of a seed."""

    def bench(seed: int) -> Bench:
        return Scratch(Problem(name, read(seed), views), plan)

    return Task(RETRIEVAL, f"{name}, from scratch", "mAP", _runner(bench, plan.scratch.rates))


def head_problem(
    name: str,
    read: Callable[[int], RetrievalSplits],
    views: Augmentations,
    plan: Plan,
    kept: Path | None = None,
) -> Task:
    """A linear head on features of a pretrained network, which are computed once for all seeds."""

    @lru_cache(maxsize=1)
    def held() -> tuple[RetrievalSplits, Features]:
        splits = read(0)
        return splits, features_of(splits, plan.extractor, plan.extractor_views, kept)

    @lru_cache(maxsize=1)
    def bench(seed: int) -> Bench:
        splits, features = held()
        problem = Problem(name, splits, views)
        return Pretrained(problem, plan, redrawn(features, seed))

    return Task(RETRIEVAL, f"{name}, heads", "mAP", _runner(bench, plan.pretrained.rates))


def redrawn(features: Features, seed: int) -> Features:
    """Draw the validation classes again from all that are not tested, and standardize anew."""
    train, validation = features.train, features.validation
    known = torch.cat([train.features, validation.features])
    labels = torch.cat([train.labels, validation.labels + int(train.labels.max()) + 1])
    order = torch.randperm(int(labels.max()) + 1, generator=torch.Generator().manual_seed(seed))
    few = order[: max(1, round(SHARE * len(order)))]
    held_out = torch.isin(labels, few)
    mean, deviation = known[~held_out].mean(0), known[~held_out].std(0) + 1e-6

    def part(values: Tensor, classes: Tensor) -> Part:
        return Part((values - mean) / deviation, torch.unique(classes, return_inverse=True)[1])

    return Features(
        part(known[~held_out], labels[~held_out]),
        part(known[held_out], labels[held_out]),
        part(features.test.features, features.test.labels),
    )


def _runner(
    bench: Callable[[int], Bench], rates: Sequence[float]
) -> Callable[[Arm, int, bool], Outcome]:
    def run(arm: Arm, seed: int, test: bool) -> Outcome:
        own = bench(seed)
        objective = arm.objective_of(own.budget.steps)
        method = Method(arm.name, (objective,))
        best, network = -1.0, None
        for rate in rates:
            found, history = own.train(Trial(method, objective, rate, seed))
            value = max(row["map"] for row in history)
            if network is None or value > best:
                best, network = value, found
        if not test:
            return Outcome(best)
        labels = own.problem.splits.test.labels
        return Outcome(best, evaluate(own.test(network), labels, hits=(1,)).map)

    return run


def bench_plan(scratch_steps: int, head_steps: int, width: int, weights: str | None) -> Plan:
    """Plan of the benches of the study ``retrieval``, without a warm start."""
    scratch = Budget(
        scratch_steps, (1e-3,), (1,), 0, validations=5, milestone=0.7, precision="bfloat16"
    )
    heads = Budget(head_steps, (1e-3, 3e-3), (1,), 0, validations=10)
    network = Network(backbone="mobilenet_v2", weights=weights)
    views = Augmentations(resize=128, crop=128)
    return replace(Plan((), network, views, heads, scratch), width=width)
