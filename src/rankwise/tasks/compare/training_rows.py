"""The rows a model was trained on, kept as hashes, so that scoring them again is noticed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import betabinom

from rankwise.data import Features, Split, Table
from rankwise.tasks.compare.row_hashes import UInts, row_hashes

__all__ = ["TrainingRows"]

_CHANCE = 0.01  # probability below which a number of duplicates is not put down to chance


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Hashes of the training rows, and how many held-out rows equal one of them."""

    hashes: UInts  # sorted, distinct
    held_out: int  # number of held-out rows
    repeated: int  # of these: rows with the feature values of a training row

    @classmethod
    def of(cls, table: Table, parts: Split) -> TrainingRows:
        """Hash everything but the test part, and look for the test part in it."""
        hashes = row_hashes(table.features, table.names)
        known = np.unique(hashes[parts.development])
        repeated = np.isin(hashes[parts.test], known)
        return cls(known, len(repeated), int(repeated.sum()))

    @property
    def duplicate_rate(self) -> float:
        """Share of the held-out rows that equal a training row."""
        return self.repeated / self.held_out

    def among(self, features: Features, names: Sequence[str]) -> NDArray[np.bool_]:
        """Whether each row has the feature values of a training row."""
        return np.isin(row_hashes(features, names), self.hashes)

    def exceeded_by(self, count: int, rows: int) -> bool:
        """Whether more rows equal a training row than the duplicate rate explains.

        Where no held-out row repeats a training row, any row that does is one too many. Otherwise
        new rows repeat them as well, sometimes a few more: the count is then compared with what
        follows from the duplicates of the held-out rows (a beta-binomial distribution, which knows
        how many rows the rate rests on), and must be among its highest 1 %.
        """
        fresh = self.held_out - self.repeated
        if not self.repeated or not fresh:
            return count / rows > self.duplicate_rate
        return bool(betabinom.sf(count - 1, rows, self.repeated, fresh) < _CHANCE)
