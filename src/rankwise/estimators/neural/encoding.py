"""Rows as a network sees them: standardized numbers, marks of what is missing, category numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import issparse
from torch import Tensor

__all__ = ["Encoding", "learn_encoding"]

_BLOCK = 1 << 14


@dataclass(frozen=True)
class Encoding:
    """What is done to every column.

    A missing number becomes the mean, and a column that had missing ones in training gets a second
    one, 1 where it is missing. Category c becomes c + 1; 0 is for missing and unknown ones.
    """

    numbers: NDArray[np.int64]  # places of the columns of numbers
    mean: NDArray[np.float64]
    spread: NDArray[np.float64]
    gaps: NDArray[np.int64]  # places of the columns of numbers that had missing values
    words: NDArray[np.int64]  # places of the columns of categories
    sizes: NDArray[np.int64]  # how many categories each of these has

    @property
    def inputs(self) -> int:
        """Numbers that the network gets for a row, beside the categories."""
        return len(self.numbers) + len(self.gaps)

    def __call__(self, rows: Any, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Numbers (rows, inputs) and category numbers (rows, columns of categories)."""
        dense = rows.toarray() if issparse(rows) else rows
        values = (dense[:, self.numbers] - self.mean) / self.spread
        numbers = np.concatenate([np.nan_to_num(values, nan=0.0), np.isnan(dense[:, self.gaps])], 1)
        codes = np.nan_to_num(dense[:, self.words] + 1, nan=0.0).astype(np.int64)
        return torch.from_numpy(numbers).to(dtype), torch.from_numpy(codes)

    def state(self) -> dict[str, NDArray[Any]]:
        """The arrays it is made of."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def of_state(cls, state: Mapping[str, Any]) -> Encoding:
        """Made of its arrays again."""
        return cls(**{field.name: state[field.name] for field in fields(cls)})


def learn_encoding(
    rows: Any, weight: NDArray[np.float64] | None, categories: Mapping[int, NDArray[Any]]
) -> Encoding:
    """The encoding for training rows, with the categories of some columns."""
    columns = rows.shape[1]
    words = np.array(sorted(categories), dtype=np.int64)
    numbers = np.setdiff1d(np.arange(columns), words)
    total, first, second = (np.zeros(columns) for _ in range(3))
    missing = np.zeros(columns, dtype=bool)
    for power in (1, 2):
        for start in range(0, rows.shape[0], _BLOCK):
            block = rows[start : start + _BLOCK]
            block = (block.toarray() if issparse(block) else block).astype(np.float64)
            w = np.ones(len(block)) if weight is None else weight[start : start + _BLOCK]
            there = ~np.isnan(block)
            if power == 1:
                missing |= ~there.all(axis=0)
                total += w @ there
                first += w @ np.where(there, block, 0)
            else:
                second += w @ np.where(there, block - first, 0) ** 2
        if power == 1:
            first = first / np.where(total > 0, total, 1)
    spread = np.sqrt(second / np.where(total > 0, total, 1))
    spread = np.where(spread > 1e-12 * (spread.max(initial=0) or 1), spread, 1.0)
    gaps = np.array([place for place in numbers if missing[place]], dtype=np.int64)
    sizes = np.array([len(categories[place]) for place in words], dtype=np.int64)
    return Encoding(numbers, first[numbers], spread[numbers], gaps, words, sizes)
