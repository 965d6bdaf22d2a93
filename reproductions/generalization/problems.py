"""The problems: two Gaussian classes, with known truth, and a table taken as the population."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.data import DataError

CAMPAIGN = "tabular/campaign.parquet"


class Problem(Protocol):
    """A law of positives and of negatives; all draws are independent, positives come first."""

    @property
    def name(self) -> str: ...

    @property
    def features(self) -> int: ...

    def draw(
        self, lists: int, n_positives: int, n_negatives: int, generator: torch.Generator
    ) -> Tensor:
        """Return features of lists, (lists, items, features)."""

    def fresh(
        self,
        weights: Tensor,
        lists: int,
        n_positives: int,
        n_negatives: int,
        generator: torch.Generator,
    ) -> Tensor:
        """Return w·x of fresh lists for models (models, features): (models, lists, items)."""


@dataclass(frozen=True)
class Gaussian:
    """Positives N(m, I) and negatives N(−m, I), ‖2m‖ = shift: w·x is normal, in closed form."""

    features: int = 10
    shift: float = 2.0
    name: str = "two Gaussian classes"

    @property
    def center(self) -> Tensor:
        """m, the mean of the positives; the best scorer is along it."""
        return torch.full((self.features,), self.shift / 2 / math.sqrt(self.features))

    def draw(
        self, lists: int, n_positives: int, n_negatives: int, generator: torch.Generator
    ) -> Tensor:
        noise = torch.randn(lists, n_positives + n_negatives, self.features, generator=generator)
        return noise + _side(n_positives, n_negatives).unsqueeze(-1) * self.center

    def fresh(
        self,
        weights: Tensor,
        lists: int,
        n_positives: int,
        n_negatives: int,
        generator: torch.Generator,
    ) -> Tensor:
        noise = torch.randn(len(weights), lists, n_positives + n_negatives, generator=generator)
        return self._scores(weights, noise, n_positives, n_negatives)

    def quantiles(self, weights: Tensor, n_positives: int, n_negatives: int) -> Tensor:
        """Return w·x at the quantiles (i − ½)/n of its two laws, (models, 1, items).

        A loss of this list is its limit for long lists, up to O(1/n).
        """
        sides = [(torch.arange(n) + 0.5).double() / n for n in (n_positives, n_negatives)]
        grid = torch.special.ndtri(torch.cat(sides)).float()
        noise = grid.expand(len(weights), 1, -1)
        return self._scores(weights, noise, n_positives, n_negatives)

    def _scores(self, weights: Tensor, noise: Tensor, n_positives: int, n_negatives: int) -> Tensor:
        scale, middle = weights.norm(dim=1), weights @ self.center
        side = _side(n_positives, n_negatives)
        found: Tensor = scale[:, None, None] * noise + middle[:, None, None] * side
        return found


@dataclass(frozen=True)
class TableProblem:
    """A table whose rows are the whole population: samples are drawn with replacement."""

    name: str
    positives: Tensor  # (rows, features), standardized
    negatives: Tensor

    @property
    def features(self) -> int:
        return self.positives.shape[1]

    def draw(
        self, lists: int, n_positives: int, n_negatives: int, generator: torch.Generator
    ) -> Tensor:
        above = torch.randint(len(self.positives), (lists, n_positives), generator=generator)
        below = torch.randint(len(self.negatives), (lists, n_negatives), generator=generator)
        return torch.cat([self.positives[above], self.negatives[below]], dim=1)

    def fresh(
        self,
        weights: Tensor,
        lists: int,
        n_positives: int,
        n_negatives: int,
        generator: torch.Generator,
    ) -> Tensor:
        found = []
        for rows, n in ((self.positives, n_positives), (self.negatives, n_negatives)):
            places = torch.randint(len(rows), (len(weights), lists * n), generator=generator)
            found.append((weights @ rows.T).gather(1, places).view(len(weights), lists, n))
        return torch.cat(found, dim=2)


def read_table(data: Path | None) -> TableProblem:
    """Read ADBench's campaign from ``data``, or scikit-learn's digits, even against odd."""
    if data is None:
        from sklearn.datasets import load_digits  # noqa: PLC0415  (slow to import)

        features, digit = load_digits(return_X_y=True)
        return _table("digits, even against odd", features, digit % 2 == 0)
    path = data / CAMPAIGN
    if not path.exists():
        raise DataError(
            f"data must be a folder with {CAMPAIGN}, got {data}; leave it out for digits"
        )
    frame = pl.read_parquet(path)
    features = frame.drop("target").to_numpy()
    return _table("campaign", features, frame["target"].to_numpy() == 1)


def _table(name: str, features: NDArray[np.generic], positive: NDArray[np.bool_]) -> TableProblem:
    x = torch.from_numpy(np.array(features, dtype=np.float64))
    x = x[:, x.std(0) > 0]
    x = ((x - x.mean(0)) / x.std(0)).float()
    present = torch.from_numpy(np.array(positive))
    return TableProblem(name, x[present], x[~present])


def _side(n_positives: int, n_negatives: int) -> Tensor:
    return torch.cat([torch.ones(n_positives), -torch.ones(n_negatives)])
