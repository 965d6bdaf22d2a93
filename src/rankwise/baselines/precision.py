"""Half precision widened before anything is computed with it."""

from __future__ import annotations

from dataclasses import replace

from rankwise.lists import Lists

__all__ = ["widened"]


def widened(lists: Lists) -> Lists:
    """The same lists with scores in the dtype of their weights, which is float32 at least."""
    dtype = lists.positive_weight.dtype
    return replace(lists, positives=lists.positives.to(dtype), negatives=lists.negatives.to(dtype))
