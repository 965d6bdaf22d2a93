"""The exact metrics: speed against scikit-learn on the same scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from benchmarks.timing import Result, seconds, seconds_side_by_side
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from rankwise.metrics import auroc, average_precision, bootstrap_interval, tpr_at_fpr

Metric = Callable[..., Any]


def against_sklearn() -> Iterator[Result]:
    generator = np.random.default_rng(0)
    n = 10_000_000
    target = (generator.random(n) < 0.01).astype(np.int64)
    scores = (generator.standard_normal(n) + target).astype(np.float32)
    pairs: dict[Metric, Metric] = {average_precision: average_precision_score, auroc: roc_auc_score}
    for ours, theirs in pairs.items():
        fast, slow = seconds_side_by_side(
            [partial(ours, scores, target), partial(theirs, target, scores)], 3
        )
        difference = abs(float(ours(scores, target)) - float(theirs(target, scores)))
        detail = {"scores": n, "positives": 0.01, "ms": 1e3 * fast, "sklearn_ms": 1e3 * slow}
        detail["difference"] = difference
        name = f"{ours.__name__}, 10⁷ scores, 1 % positive, against scikit-learn"
        yield Result(name, slow / fast, "× faster", ">= 15", detail)


def operating_point() -> Iterator[Result]:
    generator = np.random.default_rng(0)
    n, max_fpr = 1_000_000, 0.001
    target = (generator.random(n) < 0.01).astype(np.int64)
    scores = (generator.standard_normal(n) + target).astype(np.float32)

    def theirs() -> float:
        fpr, tpr, _ = roc_curve(target, scores)
        return float(tpr[fpr <= max_fpr].max())

    ours = partial(tpr_at_fpr, scores, target, max_fpr=max_fpr)
    fast, slow = seconds_side_by_side([ours, theirs], 3)
    detail = {"scores": n, "positives": 0.01, "ms": 1e3 * fast, "sklearn_ms": 1e3 * slow}
    detail["difference"] = abs(float(ours()) - theirs())
    name = f"tpr_at_fpr(max_fpr={max_fpr}), 10⁶ scores, 1 % positive, against roc_curve"
    yield Result(name, slow / fast, "× faster", ">= 0.8", detail)


def intervals() -> Iterator[Result]:
    generator = np.random.default_rng(0)
    n = 100_000
    target = (generator.random(n) < 0.05).astype(np.int64)
    scores = generator.standard_normal(n) + target
    for metric in (average_precision, auroc):
        one = seconds(partial(metric, scores, target))
        taken = seconds(partial(bootstrap_interval, metric, scores, target), 1)
        name = f"bootstrap_interval({metric.__name__}), 1 000 resamples of 10⁵ scores"
        detail = {"one_evaluation_ms": 1e3 * one, "resamples": 1000}
        yield Result(name, taken, "s", "<= 10", detail)


ALL = [against_sklearn, operating_point, intervals]
