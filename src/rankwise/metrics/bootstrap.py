"""Bootstrap intervals and comparisons for any metric: sort once, then only other weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.checks import require_count, require_same_shape
from rankwise.metrics.inputs import Array, Items, read_items, to_tensor
from rankwise.metrics.intervals import Comparison, Interval, require_level
from rankwise.metrics.ranking import Ranking, rank_items
from rankwise.metrics.setting import Setting, setting_of

__all__ = ["bootstrap_interval", "compare", "compare_lists"]

BLOCK = 2**21  # resampled items at a time: near the processor, yet few waits for other threads


def bootstrap_interval(
    metric: Callable[..., Any],
    scores: Array,
    target: Array,
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    mask: Array | None = None,
    groups: Array | None = None,
    weight: Array | None = None,
    **options: Any,
) -> Interval:
    """Percentile interval of a metric by the stratified bootstrap.

    One list: positives and negatives (for graded targets, the items of each relevance) are drawn
    with replacement separately, so every resample has both classes. Several lists: the lists are
    drawn. ``options`` are those of ``metric``; items keep their weights.
    """
    setting = setting_of(metric, options)
    items = read_items(scores, target, mask, groups, weight, pooled=setting.pools)
    (value,), (draws,) = _resampled(setting, [items], level, resamples, seed)
    low, high = _percentiles(draws, level)
    return Interval(value, low, high, level, "bootstrap")


def compare(
    metric: Callable[..., Any],
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
    **options: Any,
) -> Comparison:
    """Paired bootstrap comparison of two score vectors for the same items by any metric.

    Both see the same resamples (drawn as in :func:`bootstrap_interval`). The p-value is two-sided,
    2·(1 + #draws on the rarer side of zero)/(1 + resamples): it is never zero, and below 1 − level
    where the interval leaves out zero.
    """
    setting = setting_of(metric, options)
    pair = [
        read_items(s, target, mask, groups, weight, pooled=setting.pools)
        for s in (scores_a, scores_b)
    ]
    (a, b), draws = _resampled(setting, pair, level, resamples, seed)
    differences = draws[0] - draws[1]
    low, high = _percentiles(differences, level)
    rarer = min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    p_value = min(1.0, 2 * (1 + rarer) / (1 + resamples))
    return Comparison(a, b, a - b, low, high, p_value, level, "bootstrap")


def compare_lists(
    values_a: Array,
    values_b: Array,
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Paired comparison of the values that a metric has for the same lists, such as queries.

    Lists without a value (NaN) in either are left out. The interval is the percentile interval of
    the mean difference over lists drawn with replacement. The p-value is that of the two-sided
    randomization test, in which the two models swap places in each list with probability 1/2: exact
    where 2^lists is at most ``resamples``, else over random swaps, and then never zero. Below two
    lists there is no interval.

    >>> import numpy as np
    >>> values = np.array([0.5, 0.25, 1.0, 0.5])
    >>> compare_lists(values + 0.125, values).p_value
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
        low, high = _percentiles(draws[0] - draws[1], level)
    p_value = _randomization(both[0] - both[1], resamples, rng)
    return Comparison(a, b, a - b, low, high, p_value, level, "randomization")


def _randomization(differences: Tensor, resamples: int, rng: np.random.Generator) -> float:
    """The share of the swaps that give a mean difference as far from zero as the observed one."""
    lists = len(differences)
    if lists == 0:
        return math.nan
    exact = 2**lists <= resamples
    rows = 2**lists if exact else resamples
    # Sums of the same numbers in another order differ by their rounding.
    observed = float(differences.sum().abs()) - 1e-9 * float(differences.abs().sum())
    step, as_far = max(1, BLOCK // lists), 0
    for start in range(0, rows, step):
        some = min(step, rows - start)
        if exact:
            codes = torch.arange(start, start + some).unsqueeze(1)
            swapped = (codes >> torch.arange(lists)) & 1
        else:
            swapped = torch.from_numpy(rng.integers(2, size=(some, lists)))
        sums = (1 - 2 * swapped.double()) @ differences
        as_far += int((sums.abs() >= observed).sum())
    return as_far / rows if exact else (1 + as_far) / (1 + rows)


def _resampled(
    setting: Setting, vectors: Sequence[Items], level: float, resamples: int, seed: int
) -> tuple[list[float], Tensor]:
    """The metric of every score vector, and (vectors, resamples) of the same resamples of all."""
    require_level(level)
    require_count("resamples", resamples)
    if setting.average == "none":
        raise ValueError("average must name a mean: an interval is about one number, got 'none'")
    values = [setting.values(items) for items in vectors]
    points = [float(setting.summary(each)) for each in values]
    rng = np.random.default_rng(seed)
    if values[0].ndim == 0:
        checked = [items.pooled().checked(graded=setting.kernel.graded) for items in vectors]
        return points, _by_items(setting, checked, resamples, rng)
    return points, _by_lists(torch.stack([each.flatten() for each in values]), resamples, rng)


def _by_items(
    setting: Setting, vectors: Sequence[Items], resamples: int, rng: np.random.Generator
) -> Tensor:
    rankings = [_rank(items, setting) for items in vectors]
    # Weights are drawn in the order of the first ranking: where do the others have its items?
    place = rankings[0].order[0].argsort()
    columns = [None, *(place[ranking.order[0]] for ranking in rankings[1:])]
    strata = [
        (rankings[0].target[0] == grade).nonzero().squeeze(1)
        for grade in torch.unique(rankings[0].target)
    ]
    blocks = []
    for count in _counts(strata, resamples, rng):
        drawn = count.to(rankings[0].weight)
        row = [
            setting.kernel(
                ranking.reweighted(ranking.weight * (drawn if at is None else drawn[:, at])),
                **setting.options,
            )
            for ranking, at in zip(rankings, columns, strict=True)
        ]
        blocks.append(torch.stack(row))
    return torch.cat(blocks, dim=1)


def _rank(items: Items, setting: Setting) -> Ranking:
    """One list without its absent items, which must not be drawn."""
    scores, target, weight = items.scores, items.target, items.weight
    if weight is not None:
        present = weight > 0
        scores, target, weight = scores[present], target[present], weight[present][None]
    return rank_items(scores[None], target[None], weight, setting.ties)


def _counts(strata: Sequence[Tensor], resamples: int, rng: np.random.Generator) -> Iterator[Tensor]:
    """How often each item is drawn, resamples as rows, a block of rows at a time."""
    length = sum(len(stratum) for stratum in strata)
    step = max(1, BLOCK // max(1, length))
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        counts = torch.empty(rows, length, dtype=torch.long)
        for stratum in strata:
            counts[:, stratum.cpu()] = torch.from_numpy(_draw(rows, len(stratum), rng))
        yield counts


def _draw(rows: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """``size`` draws with replacement out of ``size``, as counts, in every row."""
    drawn = rng.integers(size, size=(rows, size))
    drawn += size * np.arange(rows)[:, None]
    return np.bincount(drawn.ravel(), minlength=rows * size).reshape(rows, size)


def _by_lists(values: Tensor, resamples: int, rng: np.random.Generator) -> Tensor:
    """Means over lists drawn with replacement, of the lists for which all vectors have a value."""
    values = values[:, ~values.isnan().any(0)]
    lists = values.shape[1]
    if lists == 0:
        return values.new_full((len(values), resamples), torch.nan)
    step = max(1, BLOCK // lists)
    blocks = []
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        drawn = torch.from_numpy(rng.integers(lists, size=(rows, lists)))
        blocks.append(values[:, drawn.to(values.device)].mean(-1))
    return torch.cat(blocks, dim=1)


def _percentiles(draws: Tensor, level: float) -> tuple[float, float]:
    tails = draws.new_tensor([(1 - level) / 2, (1 + level) / 2])
    low, high = draws.quantile(tails).tolist()
    return low, high
