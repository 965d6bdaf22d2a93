"""The exact metrics: speed against scikit-learn on the same scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from benchmarks.timing import Result, least_processor_seconds, seconds, seconds_side_by_side
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from rankwise.estimators import LinearRanker
from rankwise.metrics import (
    ClassMetric,
    auprg,
    auroc,
    average_precision,
    bootstrap_interval,
    bpref,
    compare_many,
    expected_reciprocal_rank,
    inferred_average_precision,
    inst,
    ndcg,
    rank_biased_precision,
    tpr_at_fpr,
)
from rankwise.retrieval import fuse

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
    target: NDArray[Any] = (generator.random(n) < 0.01).astype(np.int64)
    scores: NDArray[Any] = (generator.standard_normal(n) + target).astype(np.float32)

    def theirs() -> float:
        fpr, tpr, _ = roc_curve(target, scores)
        return float(tpr[fpr <= max_fpr].max())

    def ours() -> float:
        return float(tpr_at_fpr(scores, target, max_fpr=max_fpr))

    fast, slow = least_processor_seconds([ours, theirs], 3)
    detail = {"scores": n, "positives": 0.01, "ms": 1e3 * fast, "sklearn_ms": 1e3 * slow}
    detail["difference"] = abs(ours() - theirs())
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


def of_lists() -> Iterator[Result]:
    generator = np.random.default_rng(0)
    lists, length = 1_000, 1_000
    scores = torch.from_numpy(generator.standard_normal((lists, length)))
    target = torch.from_numpy(generator.random((lists, length)) < 0.05).double()
    calls: dict[str, Metric] = {
        "ndcg": ndcg,
        "expected_reciprocal_rank, k=10": partial(expected_reciprocal_rank, k=10),
        "rank_biased_precision": rank_biased_precision,
        "inst": inst,
        "bpref": bpref,
        "inferred_average_precision": inferred_average_precision,
        "auprg": auprg,
    }
    timed: list[Callable[[], object]] = [partial(scores.sort, dim=-1, descending=True, stable=True)]
    timed += [partial(call, scores, target) for call in calls.values()]
    sort, *times = seconds_side_by_side(timed, 5)
    for name, taken in zip(calls, times, strict=True):
        detail = {"lists": lists, "items": length, "ms": 1e3 * taken, "sort_ms": 1e3 * sort}
        yield Result(f"{name}, 10³ lists of 10³ items", taken / sort, "× their sort", "", detail)


def of_tied_lists() -> Iterator[Result]:
    """What ties cost in ERR, the mean over their orders."""
    generator = np.random.default_rng(0)
    scores = generator.standard_normal((1_000, 1_000))
    target = generator.integers(0, 5, scores.shape) * (generator.random(scores.shape) < 0.1)
    call = partial(expected_reciprocal_rank, k=10)
    plain, tied = seconds_side_by_side(
        [partial(call, scores, target), partial(call, scores.round(1), target)], 3
    )
    detail = {"ms": 1e3 * tied, "untied_ms": 1e3 * plain, "levels": len(np.unique(scores.round(1)))}
    name = "expected_reciprocal_rank, k=10, 10³ lists of 10³ items on about 60 levels"
    yield Result(name, tied / plain, "× without ties", "", detail)


def systems() -> Iterator[Result]:
    generator = np.random.default_rng(0)
    values = generator.random((5, 1_000))
    taken = seconds(partial(compare_many, values), 1)
    name = "compare_many, 5 systems on 1 000 lists, 10⁴ random swaps"
    yield Result(name, taken, "s", "", {"systems": 5, "lists": 1_000})
    scores = [torch.from_numpy(generator.standard_normal((1_000, 1_000))) for _ in range(3)]
    both: list[Callable[[], object]] = [
        lambda: [each.argsort(-1) for each in scores],
        partial(fuse, scores),
    ]
    sort, fused = seconds_side_by_side(both, 3)
    detail = {"systems": 3, "lists": 1_000, "items": 1_000, "ms": 1e3 * fused}
    name = "fuse (rrf), 3 systems, 10³ lists of 10³ items"
    yield Result(name, fused / sort, "× the sorts of all systems", "", detail)


def of_classes() -> Iterator[Result]:
    """What several classes cost, against as many metrics and fits of two classes."""
    generator = np.random.default_rng(0)
    target = generator.integers(0, 10, 20_000)
    scores = generator.standard_normal((20_000, 10)) + 2 * np.eye(10)[target]
    metric = ClassMetric(average_precision)
    columns = [(np.ascontiguousarray(scores[:, c]), target == c) for c in range(10)]
    apart, together = seconds_side_by_side(
        [
            lambda: [average_precision(*each) for each in columns],
            partial(metric.value, scores, target),
        ],
        5,
    )
    detail = {"rows": 20_000, "classes": 10, "ms": 1e3 * together}
    name = "ClassMetric(average_precision), 20 000 rows, 10 classes"
    yield Result(name, together / apart, "× 10 binary ones", "", detail)
    rows, kinds = scores[:2_000, :6], target[:2_000] % 4
    model = partial(LinearRanker, "ap", max_iter=20, random_state=0)
    apart, together = seconds_side_by_side(
        [
            lambda: [model().fit(rows, kinds == c) for c in range(4)],
            lambda: model().fit(rows, kinds),
        ],
        3,
    )
    detail = {"rows": 2_000, "classes": 4, "seconds": together}
    name = "LinearRanker('ap').fit, 2 000 × 6 values, 4 classes, 20 steps"
    yield Result(name, together / apart, "× 4 binary ones", "", detail)


ALL = [against_sklearn, operating_point, intervals, of_lists, of_tied_lists, systems, of_classes]
