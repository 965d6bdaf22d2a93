"""Counts of both classes by score: metrics of any number of items in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from rankwise.checks import require_binary, require_no_nan
from rankwise.metrics._cells import Cells
from rankwise.metrics._counting import Counts, count_sorted
from rankwise.metrics._setting import Setting
from rankwise.metrics.inputs import Array, NumpyArray, read_items

if TYPE_CHECKING:
    from rankwise.metrics.metric import Metric

SLACK = 1e-12  # of sums of float64: bounds are widened by it


@dataclass(frozen=True)
class Resolved:
    """The exact order of the items of some buckets, from the top: three cells per positive score.

    They hold the negatives above it in its bucket, the negatives tied with it, and itself. A last
    cell of every bucket has its remaining negatives.
    """

    buckets: NDArray[np.int64]  # those that are resolved
    bucket: NDArray[np.int64]  # of every cell
    place: NDArray[np.int64]  # order of the cell's level in its bucket
    target: NDArray[np.int64]
    count: NDArray[np.int64]


class ScoreHistogram:
    """Counts of positives and negatives by the leading bits of the float32 score.

    The bits are ordered like the scores, so a bucket is a range of scores, and buckets are the same
    for all data: histograms of parts, processes or days are added. What is not known is the order
    inside a bucket. :meth:`bounds` are the values of a metric for the worst and the best order;
    :meth:`refine` reads the data a second time and resolves the buckets that matter.

    Args:
        bits: Number of leading bits, 1 sign, 8 exponent and the others of the mantissa. Memory is
            16 · 2^bits bytes: 16 MiB for 20.

    Attributes:
        counts: Items by class and bucket, (2, 2^bits), scores ascending.

    Example:
        >>> import torch
        >>> from rankwise.metrics import Metric, ScoreHistogram, auroc
        >>> monday, tuesday = ScoreHistogram(), ScoreHistogram()
        >>> monday.add(torch.tensor([0.9, 0.8]), torch.tensor([1, 0]))
        >>> tuesday.add(torch.tensor([0.3, 0.1]), torch.tensor([1, 0]))
        >>> low, high = (monday + tuesday).bounds(Metric(auroc))
        >>> round(low, 4), round(high, 4)
        (0.75, 0.75)
    """

    def __init__(self, bits: int = 20) -> None:
        if not 9 <= bits <= 26:
            raise ValueError(f"bits must be from 9 to 26, got {bits!r}; 20 take 16 MiB")
        self.bits = bits
        self.counts: NDArray[np.int64] = np.zeros((2, 2**bits), dtype=np.int64)

    def add(self, scores: Array, target: Array) -> None:
        """Count items: scores and targets 0 and 1 of any shape."""
        bucket, positive = self._read(scores, target)
        np.add.at(self.counts.reshape(-1), bucket + positive * 2**self.bits, 1)

    def __add__(self, other: ScoreHistogram) -> ScoreHistogram:
        """Return the histogram of the items of both."""
        if other.bits != self.bits:
            raise ValueError(f"bits must be the same to add, got {self.bits} and {other.bits}")
        added = ScoreHistogram(self.bits)
        np.add(self.counts, other.counts, out=added.counts)
        return added

    def bounds(self, metric: Metric, resolved: Resolved | None = None) -> tuple[float, float]:
        """Return the least and the greatest value that a metric can have for these items.

        Args:
            metric: Metric of two classes with its options.
            resolved: What :meth:`refine` returned.

        Returns:
            Both bounds, equal up to 10⁻¹¹ where the order does not matter or is resolved; NaN where
            one class is missing.

        Raises:
            ValueError: The metric takes relevances, or needs the items one by one.
        """
        setting = metric.setting
        if not setting.kernel.takes_counts:
            raise ValueError(
                f"metric must be of two classes for a histogram, got {metric!r}, which needs the "
                "items"
            )
        if not self.counts.sum(1).all():
            return float("nan"), float("nan")
        low = self._value(setting, resolved, worst=True) - SLACK
        high = self._value(setting, resolved, worst=False) + SLACK
        return max(setting.kernel.least, low), min(1.0, high)

    def refine(
        self,
        parts: Iterable[tuple[Array, Array]],
        *,
        max_positives: int = 2**21,
        max_items: int = 2**27,
    ) -> Resolved:
        """Read the same items again and resolve the order inside the buckets that matter most.

        Args:
            parts: The scores and targets that were added, in any order and division.
            max_positives: Maximum number of positives in the buckets that are resolved.
            max_items: Maximum number of items in them: 4 bytes each for float32 scores, else 8.

        Returns:
            The order, for :meth:`bounds`.

        Raises:
            ValueError: The parts are not the items that were added.
        """
        chosen = self._chosen(max_positives, max_items)
        held: list[NumpyArray] = []
        filled = [0, 0]
        for scores, target in parts:
            bucket, positive = self._read(scores, target)
            values = read_items(scores, target, pooled=True).scores.flatten().numpy()
            if not held:
                sizes = self.counts[:, chosen].sum(1).tolist()
                held = [np.empty(size, dtype=values.dtype) for size in sizes]
            inside = chosen[bucket]
            for one_class in (0, 1):
                some = values[inside & (positive == one_class)]
                stop = filled[one_class] + len(some)
                if stop > len(held[one_class]) or held[one_class].dtype != values.dtype:
                    raise ValueError("parts must be the items that were added, of one dtype")
                held[one_class][filled[one_class] : stop] = some
                filled[one_class] = stop
        if [len(each) for each in held] != filled:
            raise ValueError(
                f"parts must be the items that were added, got {sum(filled)} of "
                f"{sum(map(len, held))} in the buckets to resolve"
            )
        return self._resolve(chosen, *held)

    def _read(self, scores: Array, target: Array) -> tuple[NumpyArray, NumpyArray]:
        """Return the bucket and the class of every item."""
        items = read_items(scores, target, pooled=True)
        require_no_nan("scores", items.scores)
        require_binary("target", items.target)
        with np.errstate(over="ignore"):  # a float64 beyond float32 is at the end, as infinity
            # Zero has two signs, and one after a sum.
            values = items.scores.flatten().cpu().numpy().astype(np.float32) + np.float32(0)
        raw = values.view(np.int32)
        # Two's complement orders positive floats; the bits of negative ones run the other way.
        ordered = np.where(raw < 0, ~raw ^ np.int32(-(2**31)), raw)
        bucket = (ordered >> (32 - self.bits)).astype(np.int64) + 2 ** (self.bits - 1)
        return bucket, items.target.flatten().cpu().double().numpy().astype(np.int64)

    def _chosen(self, max_positives: int, max_items: int) -> NDArray[np.bool_]:
        """Return the buckets whose order changes AUROC and average precision most."""
        negatives, positives = self.counts
        rank = self.counts.sum(0)[::-1].cumsum()[::-1]
        pairs = positives * negatives.astype(np.float64)
        gain = pairs / max(1, int(negatives.sum())) + pairs / np.maximum(rank, 1)
        # Several positives alone may be tied or not, which average precision distinguishes.
        gain += np.where(negatives == 0, np.maximum(positives - 1, 0) / np.maximum(rank, 1), 0)
        some = np.flatnonzero(gain > 0)
        order = some[np.argsort(-gain[some], kind="stable")]
        fits = (positives[order].cumsum() <= max_positives) & (
            self.counts[:, order].sum(0).cumsum() <= max_items
        )
        chosen = np.zeros(2**self.bits, dtype=bool)
        chosen[order[fits]] = True
        return chosen

    def _resolve(
        self, chosen: NDArray[np.bool_], negatives: NumpyArray, positives: NumpyArray
    ) -> Resolved:
        negatives.sort()
        positives.sort()
        parts = list(count_sorted(positives, negatives)) if len(positives) else []
        held, tied, above = (
            _descending(parts, n) for n in ("positives", "negatives", "negatives_above")
        )
        value = np.unique(positives)[::-1].copy()
        bucket, _ = self._read(value, np.zeros(len(value)))
        first = np.diff(bucket, prepend=-1) != 0
        # Negatives of the resolved buckets above each bucket.
        inside = np.where(chosen, self.counts[0], 0)
        higher = inside[::-1].cumsum()[::-1] - inside
        through = np.append(0, above[:-1] + tied[:-1])[: len(above)]
        between = above - np.where(first, higher[bucket], through)
        last = np.append(first[1:], True)[: len(first)]
        below = (higher + inside)[bucket[last]] - (above + tied)[last]
        levels = 2 * np.arange(len(value))
        ends = bucket[last]
        return Resolved(
            buckets=np.flatnonzero(chosen),
            bucket=np.concatenate([bucket.repeat(3), ends]),
            place=np.concatenate(
                [np.stack([levels, levels + 1, levels + 1], axis=1).ravel(), levels[last] + 2]
            ),
            target=np.concatenate([np.tile([0, 0, 1], len(value)), np.zeros_like(ends)]),
            count=np.concatenate([np.stack([between, tied, held], axis=1).ravel(), below]),
        )

    def _value(self, setting: Setting, resolved: Resolved | None, *, worst: bool) -> float:
        """Return the metric with the worst or the best order in every bucket."""
        counts = self.counts
        bucket = np.flatnonzero(counts.any(0))
        if resolved is not None:
            bucket = bucket[~np.isin(bucket, resolved.buckets)]
        loose = len(bucket)
        count = counts[:, bucket].T.ravel()  # negatives, positives
        target = np.tile([0, 1], loose)
        place = np.tile([0, 1] if worst else [1, 0], loose)
        bucket = bucket.repeat(2)
        known = np.zeros(2 * loose, dtype=bool)
        if resolved is not None:
            inner = resolved.place
            if setting.ties == "against":  # negatives come before the positives they are tied with
                inner = np.where(resolved.target == 0, inner & ~1, inner)
            bucket, place = np.append(bucket, resolved.bucket), np.append(place, inner)
            target, count = np.append(target, resolved.target), np.append(count, resolved.count)
            known = np.append(known, np.ones(len(resolved.count), dtype=bool))
        order = np.lexsort((place, -bucket))
        order = order[count[order] > 0]
        at, within = bucket[order], place[order]
        level = np.cumsum((np.diff(at, prepend=-1) != 0) | (np.diff(within, prepend=-1) != 0)) - 1
        mass = torch.from_numpy(count[order].astype(np.float64))
        cells = Cells(
            torch.from_numpy(level),
            torch.from_numpy(target[order].astype(np.float64)),
            mass,
            torch.ones_like(mass),
        )
        kernel = setting.kernel
        if worst and kernel.worst is not None:
            apart = torch.zeros(int(level[-1]) + 1, dtype=torch.bool)
            apart[torch.from_numpy(level[~known[order]])] = True
            return float(kernel.worst(cells.ranking(), apart, **setting.options))
        return float(kernel(cells.ranking(), **setting.options))


def _descending(parts: list[Counts], name: str) -> NDArray[np.int64]:
    columns = [getattr(part, name) for part in parts]
    return np.concatenate([np.empty(0, dtype=np.int64), *columns])[::-1]
