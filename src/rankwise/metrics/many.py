"""Comparisons of several models on the same lists, with p-values adjusted for their number."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rankwise.checks import require_count, require_one_of
from rankwise.extras import require
from rankwise.metrics.bootstrap import compare_lists
from rankwise.metrics.inputs import Array, to_tensor
from rankwise.metrics.intervals import Comparison, require_level
from rankwise.metrics.multiple import holm

Correction = Literal["randomized-tukey", "tukey-hsd", "holm"]
CORRECTIONS = ("randomized-tukey", "tukey-hsd", "holm")
_BLOCK = 2**22  # permuted values at a time
Floats = NDArray[np.float64]


def compare_many(
    values: Array,
    *,
    method: Correction = "randomized-tukey",
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> dict[tuple[int, int], Comparison]:
    """Compare all pairs of several models by the values that a metric has for the same lists.

    Lists without a value (NaN) for any model are left out. Every p-value is adjusted for the number
    of pairs: the chance that any two models of equal quality have p ≤ α is at most α.

    - ``"randomized-tukey"``: the models swap places at random in each list; p is the share of draws
      in which the best mean and the worst are as far apart as the two. No distribution is assumed.
    - ``"tukey-hsd"``: Tukey's honestly significant difference, the studentized range of the means
      with the residual variance of a two-way layout (models and lists). It needs scipy.
    - ``"holm"``: the paired randomization test of :func:`compare_lists` with :func:`holm`. Its
      intervals are those of single pairs; those of the other two hold for all pairs together.

    Args:
        values: One row per model, one column per list: ``average="none"`` of a metric.
        method: How the p-values are adjusted.
        level: Confidence level.
        resamples: Number of random swaps, and of resamples of the intervals of ``"holm"``.
        seed: Seed of the swaps.

    Returns:
        The comparison of every pair of rows, the smaller number first.

    Raises:
        ValueError: There are fewer than two models, or two lists with values.

    Example:
        >>> import numpy as np
        >>> from rankwise.metrics import compare_many
        >>> rng = np.random.default_rng(0)
        >>> values = rng.random(50) + np.array([[0.0], [0.0], [0.1]]) + 0.1 * rng.random((3, 50))
        >>> found = compare_many(values)
        >>> [pair for pair, each in found.items() if each.p_value < 0.05]
        [(0, 2), (1, 2)]

    Reference:
        Carterette 2012, "Multiple Testing in Statistical Analysis of Systems-Based Information
        Retrieval Experiments"; Tukey 1953; Holm 1979.
    """
    require_one_of("method", method, CORRECTIONS)
    require_level(level)
    require_count("resamples", resamples)
    table: Floats = to_tensor(values).double().cpu().numpy()
    if table.ndim != 2 or len(table) < 2:
        raise ValueError(
            "values must have one row per model, at least two, and one column per list, got shape "
            f"{tuple(table.shape)}"
        )
    table = table[:, ~np.isnan(table).any(0)]
    if table.shape[1] < 2:
        raise ValueError(
            f"values must have at least two lists with a value of every model, got {table.shape[1]}"
        )
    pairs = list(combinations(range(len(table)), 2))
    if method == "holm":
        found = [
            compare_lists(table[a], table[b], level=level, resamples=resamples, seed=seed)
            for a, b in pairs
        ]
        adjusted = holm([each.p_value for each in found])
        reaches = [(each.difference - each.low, each.high - each.difference) for each in found]
    else:
        gaps = np.array([table[a].mean() - table[b].mean() for a, b in pairs])
        if method == "tukey-hsd":
            adjusted, reach = _studentized(table, gaps, level)
        else:
            adjusted, reach = _randomized(table, gaps, level, resamples, seed)
        reaches = [(reach, reach)] * len(pairs)
    means = table.mean(1).tolist()
    return {
        (a, b): Comparison(
            means[a],
            means[b],
            means[a] - means[b],
            means[a] - means[b] - below,
            means[a] - means[b] + above,
            p_value,
            level,
            method,
        )
        for (a, b), (below, above), p_value in zip(pairs, reaches, adjusted, strict=True)
    }


def _studentized(table: Floats, gaps: Floats, level: float) -> tuple[list[float], float]:
    """Return the adjusted p-values, and the half-width of all intervals."""
    require("rankwise.metrics", "scipy")
    from scipy.stats import studentized_range  # noqa: PLC0415  (of an extra)

    models, lists = table.shape
    residual = table - table.mean(1, keepdims=True) - table.mean(0) + table.mean()
    freedom = (models - 1) * (lists - 1)
    error = math.sqrt(float((residual**2).sum()) / freedom / lists)
    if error < 1e-12 * max(1.0, float(np.abs(table).max())):  # nothing but rounding
        return [float(abs(gap) <= 1e-12) for gap in gaps.tolist()], 0.0
    p_values = studentized_range.sf(np.abs(gaps) / error, models, freedom)
    reach = float(studentized_range.ppf(level, models, freedom)) * error
    return [float(np.clip(p, 0, 1)) for p in p_values], reach


def _randomized(
    table: Floats, gaps: Floats, level: float, resamples: int, seed: int
) -> tuple[list[float], float]:
    """Return the same by random swaps of the models in each list."""
    ranges = np.concatenate(list(_ranges(table, resamples, seed)))
    # Sums of the same numbers in another order differ by their rounding.
    slack = 1e-9 * float(np.abs(table - table.mean(0)).mean())
    as_far = [int((ranges >= abs(gap) - slack).sum()) for gap in gaps.tolist()]
    reach = float(np.quantile(ranges, level))
    return [(1 + count) / (1 + resamples) for count in as_far], reach


def _ranges(table: Floats, resamples: int, seed: int) -> Iterator[Floats]:
    """Yield the largest mean minus the smallest after the models have swapped places at random."""
    rng = np.random.default_rng(seed)
    step = max(1, _BLOCK // table.size)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        drawn = np.broadcast_to(table.T, (rows, *table.T.shape))
        means = rng.permuted(drawn, axis=2).mean(1)
        yield means.max(1) - means.min(1)
