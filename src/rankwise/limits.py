"""Limits of what a file may hold, checked before memory is taken for it.

Each is far above what files of people hold, and low enough that a small file from anyone cannot
take the memory of the machine. The error of each says which limit it was and what to do.
"""

from __future__ import annotations

MAX_GROWTH, FREE_GROWTH = 200, 1 << 28
"""Compressed content may grow to ``FREE_GROWTH`` bytes, or else to this multiple of its size."""

MAX_YAML_BYTES, MAX_YAML_VALUES, MAX_YAML_DEPTH = 1 << 20, 100_000, 50
"""Size, values (aliases written out) and nesting of a file of settings."""

MAX_JSON_BYTES = 1 << 30
"""Size of a JSON file of a run."""

MAX_HEADER_BYTES, MAX_COLUMNS = 1 << 22, 100_000
"""Size of the first line of a table, and its number of columns."""

MAX_PIXELS = 1 << 26
"""Pixels of an image (67 million)."""

MAX_SPARSE_FEATURE = 1_000_000
"""The greatest number of a feature of svmlight and LETOR."""

FREE_FEATURES, MAX_FEATURES_PER_VALUE = 10_000, 10
"""A file to train on may have ``FREE_FEATURES``, or else this multiple of its number of values."""

MAX_TREE_BYTES = 1 << 30
"""Size of the text of a set of trees."""


def may_grow_to(size: int) -> int:
    """Return the number of bytes that compressed content of ``size`` bytes may grow to."""
    return max(FREE_GROWTH, MAX_GROWTH * size)
