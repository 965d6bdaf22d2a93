"""What is read off a tile of scores: the highest of chunks, candidates, and counts.

By torch and numpy in four passes, or in a single one that numba compiles (extra ``fast``) where
torch has so few threads that one is enough.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise._jit import is_available

_WORD = 8  # marks that are looked at together
_FEW_THREADS = 2  # of torch, with which four passes take longer than one in a single thread

_Array: TypeAlias = NDArray[Any]


class Passes:
    """The passes over the tiles of some users, by torch and numpy.

    Args:
        users: Number of users.
        dtype: That of the scores.
        best: A score of each user, (users, 1), that all are compared to; None: there is none.
        tile: Maximum number of items of a tile.
        most: Maximum number of candidates.
    """

    def __init__(
        self, users: int, dtype: torch.dtype, best: Tensor | None, tile: int, most: int
    ) -> None:
        self.best, self.most, self.columns = best, most, 0
        self.base = 2 * tile  # more than the columns of a tile, of which one sum has both counts
        self.above, self.below = torch.zeros(2, users, dtype=torch.long)
        self.kept: list[tuple[_Array, _Array, _Array]] = []
        self.candidates = 0

    def read(self, scores: Tensor, least: Tensor, top: Tensor, start: int) -> bool:
        """Read a tile, whose scores may be overwritten; False where there are too many candidates.

        ``top`` (users, chunks) is filled, ``start`` is the first item of the tile. Candidates are
        at least as high as ``least``, (users, 1).
        """
        by_chunk = scores.view(len(scores), top.shape[1], -1)
        torch.amax(by_chunk, -1, out=top)
        row, column, value = _candidates(by_chunk.numpy(), top.numpy(), least.numpy())
        self.kept.append((row, start + column, value))
        self.candidates += len(row)
        self.columns += scores.shape[1]
        if self.best is not None:
            codes = compare(scores, self.best, self.base)
            below = (-codes) % self.base
            self.above += (codes + below) // self.base
            self.below += below
        return self.candidates <= self.most

    def found(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return users, items and scores of the candidates, those of a user by ascending item."""
        row, item, value = (
            torch.from_numpy(np.concatenate(each)) for each in zip(*self.kept, strict=True)
        )
        return row, item, value

    def counts(self) -> tuple[Tensor, Tensor]:
        """Return how many scores are above ``best``, and how many as high."""
        tied = self.columns - self.above - self.below
        return self.above.double(), tied.double()

    def has_nan(self, top: Tensor) -> bool:
        """Whether a score is NaN, given the highest of all chunks, which is NaN then, too."""
        return bool(top.amax(1).isnan().any())


class CompiledPasses(Passes):
    """The same in one pass over each tile."""

    def __init__(
        self, users: int, dtype: torch.dtype, best: Tensor | None, tile: int, most: int
    ) -> None:
        super().__init__(users, dtype, best, tile, most)
        self.limit = torch.zeros(users, dtype=dtype) if best is None else best.reshape(-1)
        self.of_rows = np.zeros((3, users))  # above, as high, NaN
        # Memory is taken where it is written to.
        self.places = np.empty((2, most), dtype=np.int64)
        self.values = torch.empty(most, dtype=dtype)

    def read(self, scores: Tensor, least: Tensor, top: Tensor, start: int) -> bool:
        from rankwise.tasks.recommendation._scan import scan  # noqa: PLC0415  (needs numba)

        used = scan(
            scores.numpy(),
            self.limit.numpy(),
            least.numpy().reshape(-1),
            top.numpy(),
            self.of_rows,
            self.places,
            self.values.numpy(),
            start,
            self.candidates,
        )
        self.candidates = max(used, 0)
        return used >= 0

    def found(self) -> tuple[Tensor, Tensor, Tensor]:
        row, item = torch.from_numpy(self.places[:, : self.candidates])
        order = item.argsort()
        return row[order], item[order], self.values[: self.candidates][order]

    def counts(self) -> tuple[Tensor, Tensor]:
        above, tied, _ = torch.from_numpy(self.of_rows)
        return above, tied

    def has_nan(self, top: Tensor) -> bool:
        return bool(self.of_rows[2].any())


def passes() -> type[Passes]:
    """Return the passes that are faster here."""
    few = torch.get_num_threads() <= _FEW_THREADS
    return CompiledPasses if few and is_available() else Passes


def compare(scores: Tensor, best: Tensor, base: int) -> Tensor:
    """Return how the scores of each row compare to one of its own; they are overwritten.

    The bits of a difference, read as an integer, are negative, 0 or, since none is denormal, at
    least 2²³. Clamped to −1, 0 and more than there are columns, one sum holds all counts.
    """
    whole = torch.int32 if scores.dtype == torch.float32 else torch.int64
    return scores.sub_(best).view(whole).clamp_(-1, base).sum(1, dtype=whole)


def _candidates(
    by_chunk: _Array, top: _Array, least: _Array
) -> tuple[NDArray[np.int64], NDArray[np.int64], _Array]:
    """Rows, columns and scores of a tile, (rows, chunks, chunk), that reach the bounds of rows."""
    # By numpy, whose search for what is true in long arrays is several times as fast as torch's.
    each = by_chunk.shape[2]
    chunks = np.flatnonzero(top >= least)
    row = chunks // top.shape[1]
    values = by_chunk.reshape(-1, each).take(chunks, axis=0)
    reached = (values >= least[row]).reshape(-1, _WORD)
    words = np.flatnonzero(reached.view(np.uint64))  # most words of eight marks are empty
    which, place = np.nonzero(reached[words])
    where = words[which] * _WORD + place
    which = where // each
    columns = (chunks - row * top.shape[1])[which] * each + where - which * each
    return row[which], columns, values.reshape(-1)[where]
