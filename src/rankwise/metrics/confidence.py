"""Confidence intervals of several metrics for one sort, at any size."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch

from rankwise.checks import require_count
from rankwise.metrics._cells import Cells, cells_of, influence_variance, joined_levels
from rankwise.metrics._setting import Setting
from rankwise.metrics.bootstrap import bootstrap_interval, percentiles
from rankwise.metrics.inputs import Array, Items, read_items
from rankwise.metrics.intervals import Interval, mean_over_lists, normal_quantile
from rankwise.metrics.metric import Metric

SMALL = 10_000  # items of one list up to which every item is resampled
_JOINED = -1  # key of the draws of blocks of levels
WORK = 10_000_000  # drawn cells, or lists, per metric: about a second


def confidence_intervals(
    metrics: Sequence[Metric],
    scores: Array,
    target: Array,
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    mask: Array | None = None,
    groups: Array | None = None,
    weight: Array | None = None,
) -> list[Interval]:
    """Compute metrics with confidence intervals, each by the method that its size allows.

    A short list is resampled as in :func:`bootstrap_interval`. A long one is sorted once for all
    metrics. Its resamples are drawn as counts of runs of items that no metric distinguishes, or of
    the first ranks alone where only these matter: ``"bootstrap"``, with the same distribution.
    Where even that is more than 10⁷ draws, the interval is the value ± z standard errors of the
    infinitesimal jackknife: ``"influence"``. Of the AUROC this is DeLong's interval, of a mean over
    many lists the normal one. A metric of one threshold, such as :func:`tpr_at_fpr`, has no such
    derivative: then blocks of neighboring scores are drawn, and the percentiles are moved to the
    exact value.

    Args:
        metrics: Metrics with their options; their state is not used.
        scores, target, mask, groups, weight: See :mod:`rankwise.metrics`.
        level: Confidence level.
        resamples: Number of bootstrap resamples.
        seed: Seed of the resamples.

    Returns:
        One interval per metric; its ``method`` says how it was computed.

    Raises:
        ValueError: A metric does not average, or the data are not as a metric needs them.

    Example:
        >>> import torch
        >>> from rankwise.metrics import Metric, auroc, confidence_intervals, precision_at_k
        >>> generator = torch.Generator().manual_seed(0)
        >>> target = torch.arange(100_000) % 5 == 0
        >>> scores = torch.randn(100_000, generator=generator) + target
        >>> both = [Metric(auroc), Metric(precision_at_k, k=100)]
        >>> [found.method for found in confidence_intervals(both, scores, target)]
        ['influence', 'bootstrap']

    Reference:
        Efron 1982, "The Jackknife, the Bootstrap and Other Resampling Plans", chapter 6; DeLong,
        DeLong and Clarke-Pearson 1988.
    """
    normal_quantile(level)
    require_count("resamples", resamples)
    found: dict[int, Interval] = {}
    long: dict[str, dict[int, Setting]] = {}
    data = (mask, groups, weight)
    for place, metric in enumerate(metrics):
        setting = metric.setting
        items = read_items(scores, target, *data, pooled=setting.pools)
        one = items.pooled() if setting.pools else items
        if one.scores.ndim == 1 and one.groups is None and setting.kernel.takes_counts:
            if len(one.scores) > SMALL:
                long.setdefault(setting.ties, {})[place] = setting
                continue
        elif (interval := _over_lists(setting, one, level, resamples)) is not None:
            found[place] = interval
            continue
        found[place] = bootstrap_interval(
            metric.metric,
            scores,
            target,
            level=level,
            resamples=resamples,
            seed=seed,
            mask=mask,
            groups=groups,
            weight=weight,
            **metric.options,
        )
    for settings in long.values():
        items = read_items(scores, target, *data, pooled=True).pooled()
        cells = cells_of(items, next(iter(settings.values())).ties)
        intervals = intervals_of_cells(list(settings.values()), cells, level, resamples, seed)
        found |= zip(settings, intervals, strict=True)
    return [found[place] for place in range(len(metrics))]


def _over_lists(setting: Setting, items: Items, level: float, resamples: int) -> Interval | None:
    """Return the normal interval of a mean over lists, where there are too many to draw."""
    rows = items.scores.numel() // max(1, items.scores.shape[-1])
    lists = rows if items.groups is None else len(torch.unique(items.groups))
    if lists * resamples <= WORK or setting.average == "none":
        return None  # the bootstrap says what is wrong with the latter
    values = setting.values(items)
    value = float(setting.summary(values))
    error = mean_over_lists(values).standard_error
    return _normal(value, error, level, setting.kernel.least)


def intervals_of_cells(
    settings: Sequence[Setting], cells: Cells, level: float, resamples: int, seed: int
) -> Iterator[Interval]:
    """Yield the intervals of metrics with the same treatment of ties, that of the cells."""
    ranking = cells.ranking()
    shares: dict[int, tuple[Cells, list[int]]] = {}
    values = []
    for place, setting in enumerate(settings):
        exact = setting.kernel(ranking, **setting.options)
        values.append(float(replace(setting, average="macro").summary(exact)))
        if math.isnan(values[-1]):
            continue
        drawn = cells
        if setting.kernel.depth is not None:
            drawn = cells.top(setting.kernel.depth(ranking, **setting.options))
        if len(drawn) * resamples <= WORK:
            shares.setdefault(len(drawn), (drawn, []))[1].append(place)
        elif not setting.kernel.smooth:
            if _JOINED not in shares:
                shares[_JOINED] = (joined_levels(cells), [])
            shares[_JOINED][1].append(place)
    ends: dict[int, tuple[float, float]] = {}
    for drawn, places in shares.values():
        once = drawn.ranking()
        rng = np.random.default_rng(seed)
        rows = [
            torch.stack([settings[p].kernel(again, **settings[p].options) for p in places])
            for again in map(drawn.ranking, drawn.draws(resamples, rng))
        ]
        for place, draws in zip(places, torch.cat(rows, dim=1), strict=True):
            # Blocks have fewer thresholds than the list: only the spread is that of the list.
            moved = values[place] - float(settings[place].kernel(once, **settings[place].options))
            low, high = (end + moved for end in percentiles(draws, level))
            ends[place] = max(settings[place].kernel.least, low), min(1.0, high)
    for place, (setting, value) in enumerate(zip(settings, values, strict=True)):
        if place in ends:
            yield Interval(value, *ends[place], level, "bootstrap")
        else:
            variance = math.nan if math.isnan(value) else influence_variance(cells, setting)
            yield _normal(value, math.sqrt(variance), level, setting.kernel.least)


def _normal(value: float, error: float, level: float, least: float) -> Interval:
    reach = normal_quantile(level) * error
    if math.isnan(reach):
        return Interval(value, math.nan, math.nan, level, "influence")
    return Interval(value, max(least, value - reach), min(1.0, value + reach), level, "influence")
