"""The network of a neural ranker, and rows as it takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rankwise.estimators.data import Matrix, Vector, dense
from rankwise.estimators.linear._design import moments


class Network(nn.Module):
    """An embedding for every column of categories, then layers; one score per row.

    Row 0 of an embedding is for categories that are missing or unknown; it starts at zero, which
    is the mean of the rows.
    """

    def __init__(self, inputs: int, sizes: Sequence[int], hidden: Sequence[int]) -> None:
        super().__init__()
        widths = [min(32, 1 + size // 2) for size in sizes]
        self.embeddings = nn.ModuleList(
            nn.Embedding(size + 1, width) for size, width in zip(sizes, widths, strict=True)
        )
        layers: list[nn.Module] = []
        width = inputs + sum(widths)
        for units in hidden:
            layers += [nn.Linear(width, units), nn.ReLU()]
            width = units
        layers.append(nn.Linear(width, 1))
        self.layers = nn.Sequential(*layers)
        with torch.no_grad():
            for embedding in self.embeddings:
                assert isinstance(embedding, nn.Embedding)
                embedding.weight[0] = 0

    def forward(self, numbers: Tensor, codes: Tensor) -> Tensor:
        """Return the scores, (rows,)."""
        parts = [embedding(codes[:, i]) for i, embedding in enumerate(self.embeddings)]
        scores: Tensor = self.layers(torch.cat([numbers, *parts], dim=1)).squeeze(1)
        return scores


@dataclass(frozen=True)
class Encoding:
    """Standardized numbers, indicators of missing values, and category numbers.

    A missing number becomes the mean, and a column that had missing ones in training gets a second
    one, 1 where it is missing. Category c becomes c + 1; 0 is for missing and unknown ones.
    """

    numbers: NDArray[np.int64]  # places of the numeric columns
    mean: Vector
    spread: Vector
    gaps: NDArray[np.int64]  # places of the numeric columns that had missing values
    words: NDArray[np.int64]  # places of the columns of categories
    sizes: NDArray[np.int64]  # number of categories of each

    @property
    def inputs(self) -> int:
        """Numbers that the network gets for a row, without the categories."""
        return len(self.numbers) + len(self.gaps)

    def __call__(self, rows: Matrix, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Return numbers (rows, inputs) and category numbers (rows, columns of categories)."""
        given = dense(rows)
        values = (given[:, self.numbers] - self.mean) / self.spread
        numbers = np.concatenate([np.nan_to_num(values, nan=0.0), np.isnan(given[:, self.gaps])], 1)
        codes = np.nan_to_num(given[:, self.words] + 1, nan=0.0).astype(np.int64)
        return torch.from_numpy(numbers).to(dtype), torch.from_numpy(codes)


def learn_encoding(
    rows: Matrix, weight: Vector | None, categories: Mapping[int, NDArray[np.str_]]
) -> Encoding:
    """Learn the encoding of training rows, with the categories of some columns."""
    words = np.array(sorted(categories), dtype=np.int64)
    numbers = np.setdiff1d(np.arange(rows.shape[1]), words)
    mean, spread, missing = moments(rows, weight)
    sizes = np.array([len(categories[place]) for place in words], dtype=np.int64)
    gaps = numbers[missing[numbers]]
    return Encoding(numbers, mean[numbers], spread[numbers], gaps, words, sizes)
