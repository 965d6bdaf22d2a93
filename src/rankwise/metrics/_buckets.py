"""Buckets of scores, and a metric with the worst and with the best order in each of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from rankwise.checks import require_binary, require_no_nan
from rankwise.metrics._cells import Cells
from rankwise.metrics._setting import Setting
from rankwise.metrics.inputs import NumpyArray, read_items

SLACK = 1e-12  # of sums of float64: bounds are widened by it

Counts2 = NDArray[np.int64]  # (2, …): negatives, positives


def read_part(scores: object, target: object) -> tuple[NumpyArray, NDArray[np.bool_]]:
    """Return the scores of items as float32 or float64, and whether they are positive; checked."""
    items = read_items(scores, target, pooled=True)
    require_no_nan("scores", items.scores)
    require_binary("target", items.target)
    return items.scores.flatten().cpu().numpy(), items.target.flatten().cpu().numpy() == 1


def bucket_of(values: NumpyArray, bits: int) -> NDArray[np.int32]:
    """Return the bucket of every score: the leading bits of its float32, in the order of scores."""
    with np.errstate(over="ignore"):  # a float64 beyond float32 is at the end, as infinity
        # Zero has two signs, and one after a sum.
        place = (values.astype(np.float32, copy=False) + np.float32(0)).view(np.int32)
    # Two's complement orders positive floats; the bits of negative ones run the other way.
    place ^= (place >> 31) & np.int32(2**31 - 1)
    place >>= 32 - bits
    place += np.int32(2 ** (bits - 1))
    return place


@dataclass(frozen=True)
class Frame:
    """The items above and below a range of buckets, each as one level of the ranking.

    Every metric is a sum over levels of what the items on a level and above it say. So the
    difference that an order inside the range makes is the same in the frame as in the whole list.
    """

    above: Counts2  # (2,)
    below: Counts2  # (2,)

    def around(self, cells: Cells) -> Cells:
        """Return cells of the range with a level before and a level behind them."""
        last = int(cells.level[-1]) + 2 if len(cells) else 1
        counts = [torch.from_numpy(each.astype(np.float64)) for each in (self.above, self.below)]
        level = torch.cat([torch.zeros(2).long(), cells.level + 1, torch.full((2,), last)])
        classes = torch.tensor([0.0, 1.0], dtype=torch.float64)
        count = torch.cat([counts[0], cells.count, counts[1]])
        target = torch.cat([classes, cells.target, classes])
        some = count > 0
        return Cells(level[some], target[some], count[some], torch.ones_like(count[some]))


NO_FRAME = Frame(np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64))


def bounds_of(setting: Setting, counts: Counts2, frame: Frame = NO_FRAME) -> tuple[float, float]:
    """Return a metric with the worst and with the best order inside every bucket.

    Args:
        setting: Metric of two classes.
        counts: Items of a range of buckets, (2, buckets), scores ascending.
        frame: Items above and below the range.
    """
    kernel, options = setting.kernel, setting.options
    worst, best = (frame.around(_ordered(counts, first=first)) for first in (0, 1))
    high = float(kernel(best.ranking(), **options))
    if kernel.worst is None:
        return float(kernel(worst.ranking(), **options)), high
    apart = torch.ones(int(worst.level[-1]) + 1, dtype=torch.bool)
    # What is not in the range is the same with every order inside.
    apart[0] = False
    apart[-1] = not frame.below.any()
    return float(kernel.worst(worst.ranking(), apart, **options)), high


def _ordered(counts: Counts2, *, first: int) -> Cells:
    """Return the buckets from the top, each with the items of one class before the others."""
    some = counts[:, counts.any(0)][:, ::-1]
    count = torch.from_numpy(some.T.astype(np.float64))
    level = 2 * torch.arange(len(count))[:, None] + torch.tensor([[0, 1]])
    target = torch.tensor([[0.0, 1.0]], dtype=torch.float64).expand_as(count)
    if first == 1:
        count, target = count.flip(1), target.flip(1)
    kept = count > 0
    return Cells(level[kept], target[kept], count[kept], torch.ones_like(count[kept]))


def exact_value(setting: Setting, cells: Cells) -> float:
    """Return a metric of cells whose order is known."""
    return float(setting.kernel(cells.ranking(), **setting.options))
