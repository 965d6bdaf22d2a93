"""A metric by group of items, and how far the groups are apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankwise.checks import require_same_shape
from rankwise.metrics.bootstrap import bootstrap_interval
from rankwise.metrics.inputs import Array, to_tensor
from rankwise.metrics.intervals import Comparison, Interval
from rankwise.metrics.multiple import compare_independent


@dataclass(frozen=True)
class GroupComparison:
    """A metric by group, and the difference of the highest and the lowest value.

    Attributes:
        values: Value with its interval, by group.
        highest, lowest: The groups with the highest and the lowest value.
        difference: Their comparison. With more than two groups the two are chosen by their values,
            so that the difference is too large on average where all groups are alike.

    Example:
        >>> from rankwise.metrics import auroc, compare_groups
        >>> target, group = [1, 0, 1, 0], [0, 0, 1, 1]
        >>> found = compare_groups(auroc, [0.9, 0.1, 0.2, 0.8], target, group)
        >>> found.highest, found.lowest, found.difference.difference
        (0, 1, 1.0)
    """

    values: dict[int | str, Interval]
    highest: int | str
    lowest: int | str
    difference: Comparison


def compare_groups(
    metric: Callable[..., object],
    scores: Array,
    target: Array,
    attribute: Array | Sequence[str],
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    weight: Array | None = None,
    **options: Any,
) -> GroupComparison:
    """Compute a metric within each group of the items of one list, and the largest difference.

    The intervals are those of :func:`bootstrap_interval`, that of the difference is made of two of
    them (:func:`compare_independent`). ``rankwise evaluate --by`` does it for the rows of a file.

    Args:
        metric: Function of :mod:`rankwise.metrics`, such as :func:`auroc`.
        scores, target, weight: One list, see :mod:`rankwise.metrics`.
        attribute: Group of each item, integers or words, of the shape of ``scores``.
        level: Confidence level.
        resamples: Number of bootstrap resamples.
        seed: Seed of the resamples.
        **options: Options of the metric, such as ``max_fpr=0.1``.

    Returns:
        The values by group and the difference of the highest and the lowest.

    Raises:
        ValueError: There are fewer than two groups, or one lacks a class.

    Example:
        >>> import torch
        >>> from rankwise.metrics import auroc, compare_groups
        >>> _ = torch.manual_seed(0)
        >>> target, group = torch.arange(400) % 2, torch.arange(400) // 200
        >>> scores = torch.randn(400) + target * (2.0 - group)
        >>> found = compare_groups(auroc, scores, target, group)
        >>> found.highest, found.difference.low > 0
        (0, True)
    """
    items, labels = to_tensor(scores, "scores"), to_tensor(target, "target")
    words, ids = _read_groups(attribute)
    weights = None if weight is None else to_tensor(weight)
    require_same_shape("attribute", ids, "scores", items)
    if items.ndim != 1 or ids.is_floating_point():
        raise ValueError(
            "scores must be one list and attribute integers or words, got shape "
            f"{tuple(items.shape)} and {ids.dtype}"
        )
    found = [int(each) for each in torch.unique(ids)]
    names: list[int | str] = [words[each] if words else each for each in found]
    if len(names) < 2:
        raise ValueError(f"attribute must have at least two groups, got {names}")
    values: dict[int | str, Interval] = {}
    for number, name in zip(found, names, strict=True):
        rows = ids == number
        if len(torch.unique(labels[rows] > 0)) < 2:
            raise ValueError(
                f"attribute must have groups with both classes, got one class in group {name}; "
                "leave its items out"
            )
        values[name] = bootstrap_interval(
            metric,
            items[rows],
            labels[rows],
            level=level,
            resamples=resamples,
            seed=seed,
            weight=None if weights is None else weights[rows],
            **options,
        )
    highest, lowest = (pick(values, key=lambda n: values[n].value) for pick in (max, min))
    return GroupComparison(
        values, highest, lowest, compare_independent(values[highest], values[lowest])
    )


def _read_groups(attribute: Array | Sequence[str]) -> tuple[list[str], Tensor]:
    """Return the words of the groups, none where they are numbers, and the number of each item."""
    if not isinstance(attribute, Tensor):
        given = np.asarray(attribute)
        if given.dtype.kind in "UTO":  # strings of numpy, and objects such as those of pandas
            others = [each for each in given.flat if not isinstance(each, str)]
            if others:  # a missing value would be a group of its own
                raise ValueError(
                    f"attribute must be integers or words, got {others[0]!r} among them; give "
                    "every item a group"
                )
            words, numbers = np.unique(given.astype(str), return_inverse=True)
            return words.tolist(), torch.from_numpy(numbers.reshape(given.shape))
    return [], to_tensor(attribute)
