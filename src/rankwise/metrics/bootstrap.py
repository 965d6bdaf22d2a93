"""Bootstrap intervals and comparisons for any metric: one sort, then new weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from rankwise.checks import require_count, require_same_shape
from rankwise.metrics._setting import Setting, setting_of
from rankwise.metrics.inputs import Array, Items, read_items, to_tensor
from rankwise.metrics.intervals import Comparison, Interval, require_level
from rankwise.metrics.ranking import rank_present

BLOCK = 2**21  # resampled items at a time: near the processor, yet few waits for other threads


def bootstrap_interval(
    metric: Callable[..., object],
    scores: Array,
    target: Array,
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    mask: Array | None = None,
    groups: Array | None = None,
    weight: Array | None = None,
    **options: object,
) -> Interval:
    """Compute the percentile interval of a metric by the stratified bootstrap.

    One list: positives and negatives (for graded targets, the items of each relevance) are drawn
    with replacement separately, so every resample has both classes. Several lists: the lists are
    drawn. Items keep their weights.

    Args:
        metric: Function of :mod:`rankwise.metrics`, such as :func:`auroc`.
        scores, target, mask, groups, weight: See :mod:`rankwise.metrics`.
        level: Confidence level.
        resamples: Number of bootstrap resamples.
        seed: Seed of the resamples.
        **options: Options of the metric, such as ``k=10``.

    Returns:
        The value of the metric with its interval.

    Example:
        >>> import torch
        >>> from rankwise.metrics import auroc, bootstrap_interval
        >>> scores, target = torch.tensor([0.9, 0.8, 0.3, 0.1]), torch.tensor([1, 0, 1, 0])
        >>> bootstrap_interval(auroc, scores, target)
        Interval(value=0.75, low=0.0, high=1.0, level=0.95, method='bootstrap')
    """
    setting = setting_of(metric, options)
    items = read_items(scores, target, mask, groups, weight, pooled=setting.pools)
    (value,), (draws,) = _resampled(setting, [items], level, resamples, seed)
    low, high = percentiles(draws, level)
    return Interval(value, low, high, level, "bootstrap")


def compare(
    metric: Callable[..., object],
    scores_a: Array,
    scores_b: Array,
    target: Array,
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    mask: Array | None = None,
    groups: Array | None = None,
    weight: Array | None = None,
    **options: object,
) -> Comparison:
    """Compare two score vectors for the same items by any metric with a paired bootstrap.

    Both are evaluated on the same resamples (drawn as in :func:`bootstrap_interval`). The p-value
    is two-sided, 2·(1 + #draws on the rarer side of zero)/(1 + resamples): it is never zero, and
    below 1 − level where the interval leaves out zero.

    Args:
        metric: Function of :mod:`rankwise.metrics`, such as :func:`auroc`.
        scores_a, scores_b: Scores of the two models for the same items.
        target, mask, groups, weight: See :mod:`rankwise.metrics`.
        level: Confidence level.
        resamples: Number of bootstrap resamples.
        seed: Seed of the resamples.
        **options: Options of the metric, such as ``k=10``.

    Returns:
        Both values, their difference, its interval and its p-value.

    Example:
        >>> import torch
        >>> from rankwise.metrics import auroc, compare
        >>> target = torch.arange(40) < 20
        >>> good, bad = -torch.arange(40.0), torch.arange(40.0)
        >>> found = compare(auroc, good, bad, target)
        >>> found.difference, round(found.p_value, 4)  # 2/1001: no draw is below zero
        (1.0, 0.002)
    """
    setting = setting_of(metric, options)
    pair = [
        read_items(s, target, mask, groups, weight, pooled=setting.pools)
        for s in (scores_a, scores_b)
    ]
    (a, b), draws = _resampled(setting, pair, level, resamples, seed)
    return compare_draws(a, b, draws, level)


def compare_draws(a: float, b: float, draws: Tensor, level: float) -> Comparison:
    """Return the comparison of two values by their resamples, (2, resamples)."""
    differences = draws[0] - draws[1]
    low, high = percentiles(differences, level)
    rarer = min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    p_value = min(1.0, 2 * (1 + rarer) / (1 + len(differences)))
    return Comparison(a, b, a - b, low, high, p_value, level, "bootstrap")


def compare_lists(
    values_a: Array,
    values_b: Array,
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compare the values that a metric has for the same lists, such as queries.

    Lists without a value (NaN) in either are left out. The interval is the percentile interval of
    the mean difference over lists drawn with replacement. The p-value is that of the two-sided
    randomization test, in which the two models swap places in each list with probability 1/2: exact
    where 2^lists is at most ``resamples``, else over random swaps, and then never zero. Below two
    lists there is no interval.

    Args:
        values_a, values_b: One value per list of each model, in the same order.
        level: Confidence level.
        resamples: Number of resamples of the interval and of the test.
        seed: Seed of the resamples.

    Returns:
        Both means, their difference, its interval and its p-value.

    Example:
        >>> import numpy as np
        >>> from rankwise.metrics import compare_lists
        >>> values = np.array([0.5, 0.25, 1.0, 0.5])
        >>> compare_lists(values + 0.125, values).p_value  # 2 of the 2^4 swaps are as far
        0.125
    """
    require_level(level)
    require_count("resamples", resamples)
    first, second = to_tensor(values_a), to_tensor(values_b)
    require_same_shape("values_b", second, "values_a", first)
    both = torch.stack([first.double().flatten(), second.double().flatten()])
    both = both[:, ~both.isnan().any(0)]
    a, b = both.mean(1).tolist()
    rng = np.random.default_rng(seed)
    low = high = math.nan
    if both.shape[1] > 1:
        draws = _by_lists(both, resamples, rng)
        low, high = percentiles(draws[0] - draws[1], level)
    p_value = _randomization(both[0] - both[1], resamples, rng)
    return Comparison(a, b, a - b, low, high, p_value, level, "randomization")


def _randomization(differences: Tensor, resamples: int, rng: np.random.Generator) -> float:
    """Return the share of swaps whose mean difference is as far from zero as the observed."""
    lists = len(differences)
    if lists == 0:
        return math.nan
    exact = 2**lists <= resamples
    rows = 2**lists if exact else resamples
    # Sums of the same numbers in another order differ by their rounding.
    observed = float(differences.sum().abs()) - 1e-9 * float(differences.abs().sum())
    as_far = 0
    for some in _blocks(rows, lists):
        if exact:
            swapped = (torch.tensor(some).unsqueeze(1) >> torch.arange(lists)) & 1
        else:
            swapped = torch.from_numpy(rng.integers(2, size=(len(some), lists)))
        sums = (1 - 2 * swapped.double()) @ differences
        as_far += int((sums.abs() >= observed).sum())
    return as_far / rows if exact else (1 + as_far) / (1 + rows)


def _resampled(
    setting: Setting, vectors: Sequence[Items], level: float, resamples: int, seed: int
) -> tuple[list[float], Tensor]:
    """Return the metric of each vector, and (vectors, resamples) of the same resamples."""
    require_level(level)
    require_count("resamples", resamples)
    if setting.average == "none":
        raise ValueError("average must name a mean: an interval is about one number, got 'none'")
    values = [setting.values(items) for items in vectors]
    points = [float(setting.summary(each)) for each in values]
    rng = np.random.default_rng(seed)
    if values[0].ndim == 0:
        checked = [setting.kernel.checked(items.pooled()) for items in vectors]
        return points, _by_items(setting, checked, resamples, rng)
    return points, _by_lists(torch.stack([each.flatten() for each in values]), resamples, rng)


def _by_items(
    setting: Setting, vectors: Sequence[Items], resamples: int, rng: np.random.Generator
) -> Tensor:
    rankings = [rank_present(items, setting.ties) for items in vectors]
    # Weights are drawn in the order of the first ranking: where do the others have its items?
    place = rankings[0].order[0].argsort()
    columns = [None, *(place[ranking.order[0]] for ranking in rankings[1:])]
    strata = [
        (rankings[0].target[0] == grade).nonzero().squeeze(1)
        for grade in torch.unique(rankings[0].target)
    ]
    blocks = []
    for count in resample_counts(strata, resamples, rng):
        drawn = count.to(rankings[0].weight)
        row = [
            setting.kernel(
                replace(ranking, weight=ranking.weight * (drawn if at is None else drawn[:, at])),
                **setting.options,
            )
            for ranking, at in zip(rankings, columns, strict=True)
        ]
        blocks.append(torch.stack(row))
    return torch.cat(blocks, dim=1)


def resample_counts(
    strata: Sequence[Tensor], resamples: int, rng: np.random.Generator
) -> Iterator[Tensor]:
    """Yield how often each item is drawn, (resamples, items), in blocks of rows."""
    length = sum(len(stratum) for stratum in strata)
    for rows in map(len, _blocks(resamples, length)):
        counts = torch.empty(rows, length, dtype=torch.long)
        for stratum in strata:
            # As many as there are, with replacement in every row.
            size = len(stratum)
            drawn = rng.integers(size, size=(rows, size)) + size * np.arange(rows)[:, None]
            drawn = np.bincount(drawn.ravel(), minlength=rows * size).reshape(rows, size)
            counts[:, stratum.cpu()] = torch.from_numpy(drawn)
        yield counts


def _blocks(rows: int, width: int) -> Iterator[range]:
    """Yield all rows of a table in runs that are small enough to be in memory."""
    step = max(1, BLOCK // max(1, width))
    return (range(rows)[start : start + step] for start in range(0, rows, step))


def _by_lists(values: Tensor, resamples: int, rng: np.random.Generator) -> Tensor:
    """Return means over lists drawn with replacement, of lists defined for all vectors."""
    values = values[:, ~values.isnan().any(0)]
    lists = values.shape[1]
    if lists == 0:
        return values.new_full((len(values), resamples), torch.nan)
    blocks = []
    for rows in map(len, _blocks(resamples, lists)):
        drawn = torch.from_numpy(rng.integers(lists, size=(rows, lists)))
        blocks.append(values[:, drawn.to(values.device)].mean(-1))
    return torch.cat(blocks, dim=1)


def percentiles(draws: Tensor, level: float) -> tuple[float, float]:
    """Return the ends of the percentile interval."""
    tails = draws.new_tensor([(1 - level) / 2, (1 + level) / 2])
    low, high = draws.quantile(tails).tolist()
    return low, high
