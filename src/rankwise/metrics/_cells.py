"""One list of two classes as cells: what the value of a metric and of its resamples depends on.

A cell holds the items of one class and one weight on one level. Negatives between two positives are
one level, whatever their order: it does not change any metric. So a list has at most four cells for
every distinct score of a positive, and a resample of the items is a multinomial draw of the cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from rankwise.metrics._counting import count_negatives
from rankwise.metrics._depth import likely_depth
from rankwise.metrics.inputs import Items, NumpyArray, Ties
from rankwise.metrics.ranking import Ranking, rank_present

if TYPE_CHECKING:
    from rankwise.metrics._setting import Setting

BLOCK = 2**21  # drawn cells at a time
# Blocks of levels: a 256th of the rank and a 1 024th of each class are fine enough.
PER_RANK, PER_CLASS = 256, 1024
# Resampled, the rank r moves by √r. Where the value depends on what stands at one rank, narrower
# blocks would measure the chance of that rank. Above this rank there is the bootstrap.
NARROW = 10_000


@dataclass(frozen=True)
class Cells:
    """The cells of a list, from the top: their level, class, number of items, weight of an item."""

    level: Tensor  # (cells,) ascending
    target: Tensor  # (cells,) float64
    count: Tensor  # (cells,) float64
    weight: Tensor  # (cells,) float64

    def __len__(self) -> int:
        return len(self.level)

    def ranking(self, mass: Tensor | None = None) -> Ranking:
        """Return the cells as weighted items; ``mass``, (rows, cells), is that of resamples."""
        if mass is None:
            mass = (self.count * self.weight)[None]
        levels = int(self.level[-1]) + 1 if len(self) else 0
        place = torch.arange(len(self))[None]
        scores, level = -self.level[None], self.level[None]
        return Ranking(scores, self.target[None], place, level, levels, True, mass)

    def top(self, depth: float) -> Cells:
        """Return the first ranks in detail and the rest as one level.

        Resamples of both have the same first ``depth`` ranks.
        """
        mass, square = (self.count * self.weight**power for power in (1, 2))
        enough = likely_depth(depth, square.cumsum(0), float(self.weight.max()))
        first = int((mass.cumsum(0) < enough).sum())
        if first >= len(self):
            return self
        kept = self.level <= self.level[first]
        columns = (self.level, self.target, self.count, self.weight)
        parts = [Cells(*(column[kept] for column in columns))]
        for target in (0.0, 1.0):
            some = ~kept & (self.target == target)
            count, weight = _lump(self.count[some], self.weight[some])
            level = torch.full(count.shape, int(self.level[first]) + 1)
            parts.append(Cells(level, torch.full_like(count, target), count, weight))
        return Cells(*(torch.cat([getattr(p, name) for p in parts]) for name in vars(parts[0])))

    def draws(self, resamples: int, rng: np.random.Generator) -> Iterator[Tensor]:
        """Yield the masses of stratified resamples, (rows, cells), in blocks of rows."""
        step = max(1, BLOCK // max(1, len(self)))
        strata = [np.flatnonzero(self.target.numpy() == target) for target in (0, 1)]
        for start in range(0, resamples, step):
            rows = min(step, resamples - start)
            mass = np.empty((rows, len(self)))
            for stratum in strata:
                count = self.count.numpy()[stratum]
                total = float(count.sum())
                mass[:, stratum] = rng.multinomial(round(total), count / total, size=rows)
            yield torch.from_numpy(mass * self.weight.numpy())


def _lump(count: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return few cells with the mass of many and, resampled, its variance."""
    values, which = weight.unique(return_inverse=True)
    if len(values) == 0 or bool((values == values.round()).all()):
        return torch.zeros_like(values).index_add(0, which, count), values
    # Weights w are not counts of items: p items of weight Σw²/Σw and the others of weight 0.
    total, mass, square = (float((count * weight**power).sum()) for power in (0, 1, 2))
    heavy = mass**2 / square
    return count.new_tensor([heavy, total - heavy]), count.new_tensor([square / mass, 0.0])


def cells_of(items: Items, ties: Ties) -> Cells:
    """Return the cells of one list with two classes."""
    items = items.pooled()
    if items.mask is None and items.weight is None and items.scores.device.type == "cpu":
        target = items.target.float() if items.target.dtype == torch.bfloat16 else items.target
        parts = list(count_negatives(items.scores.numpy(), target.numpy()))
        if parts:
            names = ("positives", "negatives", "negatives_above")
            positives, tied, above = (
                np.concatenate([getattr(part, name) for part in parts])[::-1] for name in names
            )
            return cells_of_counts(positives, tied, above, parts[0].n_negatives, ties)
    ranking = rank_present(items.checked(graded=False), ties)
    weight = ranking.weight[0].cpu()
    one = torch.ones_like(weight)
    return Cells(ranking.level[0].cpu(), ranking.target[0].cpu(), one, weight)


def cells_of_counts(
    positives: NumpyArray, tied: NumpyArray, above: NumpyArray, n_negatives: int, ties: Ties
) -> Cells:
    """Return the cells of positives by descending score, with the negatives at and above each."""
    between = np.diff(above, prepend=0)
    between[1:] -= tied[:-1]
    below = n_negatives - above[-1] - tied[-1]
    levels = 2 * np.arange(len(positives))
    # Per positive: negatives above it, negatives with it, itself.
    with_it = levels if ties == "against" else levels + 1
    level = np.append(np.stack([levels, with_it, levels + 1], axis=1).ravel(), 2 * len(positives))
    count = np.append(np.stack([between, tied, positives], axis=1).ravel(), below)
    target = np.zeros(len(count))
    target[2::3] = 1
    some = count > 0
    return Cells(
        torch.from_numpy(level[some]),
        torch.from_numpy(target[some]),
        torch.from_numpy(count[some].astype(np.float64)),
        torch.ones(int(some.sum()), dtype=torch.float64),
    )


def influence_variance(cells: Cells, setting: Setting) -> float:
    """Return the infinitesimal jackknife's variance of a metric under the stratified resample.

    Σ_strata n/(n − 1) Σ_i (d_i − d̄)², d_i the derivative of the metric by how often item i counts:
    what the variance of the bootstrap is to first order, and for the AUROC DeLong's.
    """
    _, mass, square = _block_sums(cells)
    blocks = len(mass) // 2
    target = torch.tensor([0.0, 1.0], dtype=torch.float64).repeat(blocks)
    joined = Cells(torch.arange(2 * blocks) // 2, target, mass, torch.ones_like(mass))
    with torch.enable_grad():
        point = mass[None].requires_grad_()
        value = setting.kernel(joined.ranking(point), **setting.options)
        (slope,) = torch.autograd.grad(value.sum(), point)
    variance = 0.0
    for one_class in (0.0, 1.0):
        some = target == one_class
        n = float(cells.count[cells.target == one_class].sum())
        squares = float((square[some] * slope[0, some] ** 2).sum())
        mean = float((mass[some] * slope[0, some]).sum()) / n
        # np.maximum rather than max: an undefined derivative must not become a variance of 0.
        variance += float(np.maximum(squares - n * mean**2, 0.0)) * n / max(1.0, n - 1)
    return variance


def joined_levels(cells: Cells) -> Cells:
    """Return few cells, of blocks of levels, with the mass of many and, resampled, its variance."""
    count, mass, square = _block_sums(cells)
    some = mass > 0
    level, target = torch.arange(len(mass)) // 2, torch.arange(len(mass)) % 2
    level, target, mass, square = level[some], target[some].double(), mass[some], square[some]
    # As in `_lump`: p items of weight Σw²/Σw, and the others of the class of weight 0.
    heavy = mass**2 / square
    rest = torch.stack([count[0::2].sum(), count[1::2].sum()])
    rest = (rest - rest.new_zeros(2).index_add(0, target.long(), heavy)).clamp_min(0)
    last = level[-1:].expand(2)
    return Cells(
        torch.cat([level, last]),
        torch.cat([target, torch.tensor([0.0, 1.0], dtype=torch.float64)]),
        torch.cat([heavy, rest]),
        torch.cat([square / mass, torch.zeros(2, dtype=torch.float64)]),
    )


def _block_sums(cells: Cells) -> tuple[Tensor, Tensor, Tensor]:
    """Return Σ count, Σ weight and Σ weight² of the two classes of every block, (2 · blocks,)."""
    block = _blocks(cells)[cells.level]
    place = 2 * block + cells.target.long()
    zeros = torch.zeros(2 * (int(block[-1]) + 1), dtype=torch.float64)
    count, mass, square = (
        zeros.index_add(0, place, cells.count * cells.weight**power) for power in (0, 1, 2)
    )
    return count, mass, square


def _blocks(cells: Cells) -> Tensor:
    """Return the block of every level."""
    ranking = cells.ranking()
    mass, positives = (x[0].numpy() for x in (ranking.mass, ranking.positives))
    above = mass.cumsum() - mass
    share = positives.cumsum() / positives.sum()
    other = (mass - positives).cumsum() / (mass - positives).sum()
    fine = np.floor(PER_RANK * np.log1p(above)) + np.floor(PER_CLASS * share)
    fine += np.floor(PER_CLASS * other)
    starts = np.flatnonzero(np.diff(fine, prepend=-1) != 0)
    kept, last = [], -np.inf
    for start, rank in zip(starts.tolist(), above[starts].tolist(), strict=True):
        if rank <= NARROW or rank - last >= rank**0.5:
            kept.append(start)
            last = rank
    new = np.zeros(len(mass), dtype=np.int64)
    new[kept] = 1
    return torch.from_numpy(new.cumsum() - 1)
