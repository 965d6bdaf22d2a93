"""What an evaluation says of embeddings."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["RetrievalResult"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RetrievalResult:
    """Means over the queries that have something to find; ``left_out`` counts the others.

    ``average_precision`` and ``first_rank`` are by query, in the order the queries came, NaN where
    one was left out.
    """

    map: float
    hit_at: dict[int, float]  # share of queries with a right item among the first k: Recall@k
    r_precision: float  # precision among the first R, R the number of right items
    map_at_r: float
    per_class: dict[int, float]  # mAP of the queries of each class
    recall: Floats  # 0, .01, …, 1
    precision: Floats  # mean precision at the rank where each recall is reached
    average_precision: Floats
    first_rank: Floats
    gallery: int
    left_out: int

    @property
    def queries(self) -> int:
        """How many queries the means are over."""
        return len(self.average_precision) - self.left_out

    @property
    def standard_error(self) -> float:
        """Of ``map``, over the queries."""
        values = self.average_precision[~np.isnan(self.average_precision)]
        return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan

    def __str__(self) -> str:
        error = self.standard_error
        sure = "" if math.isnan(error) else f" ± {1.96 * error:.4f}"
        hits = "".join(f"hit@{k} {value:.4f}, " for k, value in self.hit_at.items())
        text = f"mAP {self.map:.4f}{sure}, {hits}"
        text += f"R-precision {self.r_precision:.4f}, MAP@R {self.map_at_r:.4f} "
        queries = "1 query" if self.queries == 1 else f"{self.queries} queries"
        text += f"({queries}, {self.gallery} in the gallery"
        return text + (f"; {self.left_out} with nothing to find)" if self.left_out else ")")
