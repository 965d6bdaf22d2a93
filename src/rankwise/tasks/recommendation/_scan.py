"""One compiled pass over a tile of scores; importing it needs numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwise._jit import kernel

# What a score adds to the number of its chunk. The sum of a row has two counts in it.
_NEITHER, _ABOVE, _BELOW = np.int32(0), np.int32(1), np.int32(1 << 16)


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
    highest, codes = np.empty(chunks, scores.dtype), np.empty(chunks, np.int32)
    for row in range(len(scores)):
        limit, bound = best[row], least[row]
        for c in range(chunks):
            highest[c], codes[c] = -np.inf, _NEITHER
        for j in range(each):
            part = scores[row, j * chunks : (j + 1) * chunks]
            for c in range(chunks):
                score = part[c]
                highest[c] = score if score > highest[c] else highest[c]
                codes[c] += _ABOVE if score > limit else _NEITHER
                codes[c] += _BELOW if score < limit else _NEITHER
        code = np.int64(0)
        for c in range(chunks):
            top[row, c] = highest[c]
            code += codes[c]
        above, below = code % _BELOW, code // _BELOW
        counts[0, row] += above
        if above + below < each * chunks:  # seldom: the others are as high, or NaN
            tied = 0
            for c in range(each * chunks):
                tied += scores[row, c] == limit
            counts[1, row] += tied
            counts[2, row] += each * chunks - above - below - tied
        for c in range(chunks):
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
