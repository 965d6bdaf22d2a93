"""One compiled pass over a tile of scores; importing it needs numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwise._jit import kernel

# What a score adds to the number of its chunk, which has three counts of at most 64 in it.
_BELOW, _ABOVE, _TIED, _NAN = np.float32(0), np.float32(1), np.float32(128), np.float32(128**2)


@kernel
def scan(  # noqa: PLR0917
    scores: NDArray[Any],
    best: NDArray[Any],
    least: NDArray[Any],
    top: NDArray[Any],
    counts: NDArray[np.float64],
    found: NDArray[np.int64],
    values: NDArray[Any],
    start: int,
    used: int,
) -> int:
    """Fill the highest scores of chunks and the counts of rows, append what reaches the bounds.

    Item j is in chunk j mod (number of chunks), so that a step of the inner loop is one of vectors.
    ``counts`` (3, rows) has the scores above ``best``, as high, and NaN. ``found`` (2, candidates)
    has rows and items, of which the first of the tile is ``start``. Return the candidates so far,
    −1 where they do not fit.
    """
    chunks = top.shape[1]
    each = scores.shape[1] // chunks
    # Of more than two arrays the compiler would not see that they do not overlap.
    highest, codes = np.empty(chunks, scores.dtype), np.empty(chunks, np.float32)
    for row in range(len(scores)):
        limit, bound = best[row], least[row]
        for c in range(chunks):
            highest[c], codes[c] = -np.inf, _BELOW
        for j in range(each):
            part = scores[row, j * chunks : (j + 1) * chunks]
            for c in range(chunks):
                score = part[c]
                highest[c] = score if score > highest[c] else highest[c]
                code = _ABOVE if score > limit else _TIED if score == limit else _NAN
                codes[c] += _BELOW if score < limit else code
        for c in range(chunks):
            top[row, c] = highest[c]
            whole = np.int64(codes[c])
            counts[0, row] += whole % 128
            counts[1, row] += whole // 128 % 128
            counts[2, row] += whole // 128**2
            if highest[c] >= bound:
                for j in range(each):
                    score = scores[row, j * chunks + c]
                    if score >= bound:
                        if used == len(values):
                            return -1
                        found[0, used], found[1, used] = row, start + j * chunks + c
                        values[used] = score
                        used += 1
    return used
