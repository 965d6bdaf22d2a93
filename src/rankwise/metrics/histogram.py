"""Counts of both classes by score: metrics of any number of items in bounded memory."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankwise.files import read_npz, write_npz
from rankwise.metrics._buckets import SLACK, bounds_of, bucket_of, read_part
from rankwise.metrics._refinement import MOST_ITEMS, refine
from rankwise.metrics.inputs import Array, NumpyArray

if TYPE_CHECKING:
    from rankwise.metrics.metric import Metric

_FORMAT = "rankwise.ScoreHistogram 1"


class ScoreHistogram:
    """Counts of positives and negatives by the leading bits of the float32 score.

    The bits are ordered like the scores, so a bucket is a range of scores, and buckets are the same
    for all data: histograms of parts, processes or days are added. What is not known is the order
    inside a bucket. :meth:`bounds` are the values of a metric for the worst and the best order;
    :meth:`refine` reads the data again and makes them meet.

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
        values, positive = read_part(scores, target)
        place = bucket_of(values, self.bits)
        place += positive.astype(np.int32) << self.bits
        self.counts += np.bincount(place, minlength=2 ** (self.bits + 1)).reshape(2, -1)

    def __add__(self, other: ScoreHistogram) -> ScoreHistogram:
        """Return the histogram of the items of both."""
        if other.bits != self.bits:
            raise ValueError(f"bits must be the same to add, got {self.bits} and {other.bits}")
        added = ScoreHistogram(self.bits)
        np.add(self.counts, other.counts, out=added.counts)
        return added

    def bounds(self, metric: Metric) -> tuple[float, float]:
        """Return the least and the greatest value that a metric can have for these items.

        Args:
            metric: Metric of two classes with its options.

        Returns:
            Both bounds, equal up to 10⁻¹¹ where the order inside the buckets does not matter; NaN
            where one class is missing.

        Raises:
            ValueError: The metric takes relevances, or needs the items one by one.
        """
        if not metric.setting.kernel.takes_buckets:
            raise ValueError(
                f"metric must be a sum over two classes for a histogram, got {metric!r}, which "
                "needs the items"
            )
        if not self.counts.sum(1).all():
            return float("nan"), float("nan")
        low, high = bounds_of(metric.setting, self.counts)
        return max(metric.setting.kernel.least, low - SLACK), min(1.0, high + SLACK)

    def refine(
        self,
        parts: Iterable[tuple[Array, Array]],
        metrics: Sequence[Metric],
        *,
        max_items: int = MOST_ITEMS,
    ) -> list[tuple[float, float]]:
        """Read the same items again and return the bounds of metrics with their order resolved.

        A pass over the parts sorts up to ``max_items`` items. One pass is enough for that number of
        items in buckets that matter to a metric; more items take further passes. Without a bucket
        of more than ``max_items`` items with 2²² different scores, the bounds meet.

        Args:
            parts: The scores and targets that were added, in any order: a list, or
                another iterable that can be read several times.
            metrics: Metrics of two classes with their options.
            max_items: Maximum number of items in memory: 4 bytes each for float32 scores, else 8.

        Returns:
            The least and the greatest value of every metric, see :meth:`bounds`.

        Raises:
            ValueError: The parts are not the items that were added, or cannot be read again.

        Example:
            >>> import numpy as np
            >>> from rankwise.metrics import Metric, ScoreHistogram, auroc
            >>> parts = [(np.float32([0.5, 0.50001]), np.array([0, 1]))]
            >>> histogram = ScoreHistogram()
            >>> histogram.add(*parts[0])
            >>> [round(bound, 4) for bound in histogram.bounds(Metric(auroc))]  # one bucket
            [0.0, 1.0]
            >>> [(round(low, 4), high) for low, high in histogram.refine(parts, [Metric(auroc)])]
            [(1.0, 1.0)]
        """
        known = [self.bounds(metric) for metric in metrics]
        if not self.counts.sum(1).all():
            return known
        settings = [metric.setting for metric in metrics]
        return refine(self.counts, self.bits, parts, settings, max_items).bounds

    def save(self, path: str | Path) -> None:
        """Write the counts to a file, which is there whole or not at all.

        The file is an npz of plain numbers: ``format``, ``bits``, and for every bucket that is not
        empty its number (``bucket``) and its items (``negatives``, ``positives``).

        Args:
            path: The file, such as ``monday.npz``.
        """
        some = np.flatnonzero(self.counts.any(0))
        negatives, positives = self.counts[:, some]
        write_npz(
            Path(path),
            {
                "format": _FORMAT,
                "bits": self.bits,
                "bucket": some,
                "negatives": negatives,
                "positives": positives,
            },
        )

    @classmethod
    def load(cls, path: str | Path) -> ScoreHistogram:
        """Read a file of :meth:`save`; every number in it is checked and nothing is executed.

        Args:
            path: The file.

        Returns:
            The histogram.

        Raises:
            ValueError: The file was not written by :meth:`save`, or is damaged.

        Example:
            >>> import tempfile
            >>> from rankwise.metrics import ScoreHistogram
            >>> histogram = ScoreHistogram()
            >>> histogram.add([0.9, 0.1, 0.1], [1, 0, 0])
            >>> path = tempfile.mkdtemp() + "/monday.npz"
            >>> histogram.save(path)
            >>> ScoreHistogram.load(path).counts.sum(1).tolist()
            [2, 1]
        """
        try:
            arrays = read_npz(Path(path))
            _require_saved(arrays)
        except (ValueError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"{path} is not a file of ScoreHistogram.save: {error}") from error
        made = cls(int(arrays["bits"]))
        made.counts[:, arrays["bucket"]] = arrays["negatives"], arrays["positives"]
        return made


def _require_saved(arrays: dict[str, NumpyArray]) -> None:
    """Raise unless arrays are what :meth:`ScoreHistogram.save` writes."""
    names = ("format", "bits", "bucket", "negatives", "positives")
    _require(set(arrays) == set(names), f"it holds {sorted(arrays)}, not {sorted(names)}")
    form, bits, bucket, *counts = (arrays[name] for name in names)
    _require(not form.shape and str(form) == _FORMAT, f"its format is {form}, not {_FORMAT}")
    numbers = (bits, bucket, *counts)
    _require(all(each.dtype == np.int64 for each in numbers), "it has others than int64 numbers")
    _require(not bits.shape and 9 <= int(bits) <= 26, f"bits is {bits}, not from 9 to 26")
    same = bucket.ndim == 1 and all(each.shape == bucket.shape for each in counts)
    _require(same, "its columns are not of one length")
    _require(bool((np.diff(bucket) > 0).all()), "its buckets are not ascending")
    ends = bucket[[0, -1]].tolist() if len(bucket) else [0, 0]
    _require(ends[0] >= 0 and ends[1] < 2 ** int(bits), "a bucket is outside of the histogram")
    _require(not any((each < 0).any() for each in counts), "a count is negative")


def _require(holds: bool, fault: str) -> None:
    if not holds:
        raise ValueError(fault)
