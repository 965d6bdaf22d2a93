"""Thresholds by a rule, metrics by group and drift, against a sort of the same scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from benchmarks.timing import Result, least_processor_seconds

from rankwise.metrics import (
    auroc,
    bootstrap_interval,
    choose_threshold,
    compare_groups,
    population_stability_index,
)

ROWS = 1_000_000


def rules() -> Iterator[Result]:
    """Each rule on the same rows, with and without a confidence."""
    generator = np.random.default_rng(0)
    target = generator.random(ROWS) < 0.02
    scores = generator.standard_normal(ROWS) + 3 * target
    names = ("recall>=0.9", "precision>=0.8", "fpr<=0.001", "alerts<=200/10000")
    wanted = [name + sure for name in names for sure in ("", "@95%")]
    calls: list[Callable[[], object]] = [partial(np.argsort, scores)]
    calls += [partial(choose_threshold, scores, target, rule) for rule in wanted]
    sort, *times = least_processor_seconds(calls, 3)
    for rule, taken in zip(wanted, times, strict=True):
        detail = {"rows": ROWS, "positives": 0.02, "ms": 1e3 * taken, "sort_ms": 1e3 * sort}
        name = f'choose_threshold("{rule}"), 10⁶ scores, 2 % positive'
        yield Result(name, taken / sort, "× np.argsort", "", detail)


def groups_and_drift() -> Iterator[Result]:
    """Intervals by group against those of all rows; the index of two samples of scores."""
    generator = np.random.default_rng(0)
    target, group = generator.random(100_000) < 0.1, generator.integers(0, 5, 100_000)
    scores = generator.standard_normal(100_000) + target
    apart, together = least_processor_seconds(
        [
            partial(compare_groups, auroc, scores, target, group),
            partial(bootstrap_interval, auroc, scores, target),
        ],
        1,
    )
    detail = {"rows": 100_000, "groups": 5, "seconds": apart}
    name = "compare_groups(auroc), 10⁵ rows in 5 groups, 1 000 resamples"
    yield Result(name, apart / together, "× bootstrap_interval of all rows", "", detail)
    before, after = generator.standard_normal((2, ROWS))
    index, sort = least_processor_seconds(
        [partial(population_stability_index, before, after), partial(np.argsort, before)], 3
    )
    detail = {"rows": ROWS, "ms": 1e3 * index, "sort_ms": 1e3 * sort}
    yield Result(
        "population_stability_index, 10⁶ and 10⁶ scores", index / sort, "× np.argsort", "", detail
    )


ALL = [rules, groups_and_drift]
