"""The queries of the shared set, and repeated folds of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from rankwise.metrics import ndcg

SEEDS, FOLDS, HELD_OUT, FEATURES = 5, 5, 0.25, 300
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Part:
    """The documents of some queries, query by query."""

    x: Any
    y: Floats
    query: NDArray[np.int64]  # number of the query in the data set

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Documents of each query."""
        return np.unique(self.query, return_counts=True)[1]

    def by_query(self, scores: Floats) -> dict[int, float]:
        """NDCG@10 of every query with a relevant document; ties count as the mean of orders."""
        names, row = np.unique(self.query, return_inverse=True)
        place = np.arange(len(row)) - np.searchsorted(row, row)
        shape = len(names), place.max() + 1
        values, target, mask = np.zeros(shape), np.zeros(shape), np.zeros(shape, bool)
        values[row, place], target[row, place], mask[row, place] = scores, self.y, True
        kept = (target > 0).any(axis=1)
        lists = (torch.from_numpy(part[kept]) for part in (values, target, mask))
        each = _each(*lists)
        return dict(zip(names[kept].tolist(), each.tolist(), strict=True))

    def value(self, scores: Floats) -> float:
        """Mean NDCG@10."""
        return float(np.mean(list(self.by_query(scores).values())))


def _each(values: torch.Tensor, target: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    found = ndcg(values, target, k=10, mask=mask, average="none")
    assert isinstance(found, torch.Tensor)
    return found


def load(folder: Path) -> tuple[Part, int]:
    """All queries, and the number of the first one of the file ``rank.test``."""
    x, y, sizes = [], [], []
    for name in ("train", "test"):
        file = folder / "ranking" / "lightgbm_lambdarank" / f"rank.{name}"
        features, relevance = load_svmlight_file(str(file), n_features=FEATURES + 1)
        x.append(features.toarray()[:, 1:])  # columns count from 1
        y.append(relevance)
        sizes.append([int(line) for line in Path(f"{file}.query").read_text().split()])
    every = [*sizes[0], *sizes[1]]
    query = np.repeat(np.arange(len(every)), every)
    return Part(np.concatenate(x), np.concatenate(y), query), len(sizes[0])


class Split(NamedTuple):
    """One fold: trained on, stopped and chosen by, tested on; and its seed."""

    train: Part
    held_out: Part
    test: Part
    seed: int


def split(queries: Part, seed: int, fold: int) -> Split:
    """The parts of a fold; each query is tested once a seed."""
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(int(queries.query.max()) + 1)
    test = shuffled[fold::FOLDS]
    rest = np.random.default_rng((seed, fold)).permutation(np.setdiff1d(shuffled, test))
    held_out = int(HELD_OUT * len(rest))

    def part(chosen: NDArray[np.int64]) -> Part:
        rows = np.isin(queries.query, chosen)
        return Part(queries.x[rows], queries.y[rows], queries.query[rows])

    return Split(part(rest[held_out:]), part(rest[:held_out]), part(test), seed)
