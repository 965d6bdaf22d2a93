"""The regular lines of LETOR and svmlight in one compiled pass over the bytes."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from rankwise.data.letor._blocks import Block, even_block
from rankwise.data.letor._loops import walk

_LEFT = 1 << 12  # values of a text that may be left to Python's ``float``


def parse_compiled(text: bytes) -> Block | None:
    """Return the rows of whole lines; None where a line is not of the common form."""
    text = text if text.endswith(b"\n") else text + b"\n"
    content = np.frombuffer(text, dtype=np.uint8)
    # text.count takes seven times as long where every tenth byte is a colon.
    lines, pairs = (int(np.count_nonzero(content == ord(mark))) for mark in "\n:")
    columns, values = np.empty(pairs, dtype=np.int32), np.empty(pairs, dtype=np.float32)
    ends, left = np.zeros(lines + 1, dtype=np.int64), np.empty((_LEFT, 3), dtype=np.int64)
    target, queries = np.empty(lines), np.empty(lines, dtype=np.int64)
    rows, n_left, queried = walk(content, columns, values, ends, target, queries, left)
    if rows < 1:
        return None
    with np.errstate(over="ignore"):
        for start, end, number in left[:n_left].tolist():
            values[number] = float(text[start:end])
    if n_left and not np.isfinite(values[left[:n_left, 2]]).all():
        return None
    # The arrays are as long as the text allows; what is kept must not hold on to them.
    target, queries = target[:rows].copy(), queries[: rows if queried else 0].copy()
    entries, each = int(ends[rows]), int(ends[1])
    columns, values, ends = columns[:entries], values[:entries], ends[: rows + 1]
    if entries == rows * each and (np.diff(ends) == each).all():
        by_row = columns.reshape(rows, each)
        if (by_row == by_row[0]).all():
            return even_block(by_row[0], values.reshape(rows, each), target, queries)
    width = int(columns.max(initial=0)) + 1
    kept = (values.copy(), columns.copy(), ends.copy())
    return Block(sparse.csr_array(kept, (rows, width)), target, queries, entries)
