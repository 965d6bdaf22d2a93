"""The exact metrics: speed against scikit-learn on the same scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from benchmarks.timing import Result, seconds, seconds_side_by_side
from sklearn.metrics import average_precision_score, roc_auc_score

from rankwise.metrics import auroc, average_precision, bootstrap_interval

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


ALL = [against_sklearn, intervals]
