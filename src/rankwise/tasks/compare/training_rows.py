"""Hashes of the rows a model was trained on, to detect that they are scored again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import betabinom

from rankwise.data import Table
from rankwise.data.disk import DiskFeatures
from rankwise.data.table import Features
from rankwise.tasks.compare.problem import Plan

UInts = NDArray[np.uint64]

_NO_TIME = -(2**63)
_CHANCE = 0.01  # probability below which a number of duplicates is not put down to chance


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Hashes of the training rows, and how many held-out rows equal one of them."""

    hashes: UInts  # sorted, distinct
    held_out: int  # number of held-out rows
    repeated: int  # of these: rows with the feature values of a training row

    @classmethod
    def of(cls, table: Table, plan: Plan) -> TrainingRows:
        """Hash everything but the test part, and count the test rows that are in it.

        Without a test part the first fold says how often rows repeat.
        """
        hashes, parts = row_hashes(table.features, table.names), plan.parts
        tested = (parts.development, parts.test) if len(parts.test) else plan.splits[0]
        train, held_out = (hashes[rows] for rows in tested)
        repeated = np.isin(held_out, train)
        return cls(np.unique(hashes[parts.development]), len(repeated), int(repeated.sum()))

    @property
    def duplicate_rate(self) -> float:
        """Share of the held-out rows that equal a training row."""
        return self.repeated / self.held_out

    def among(self, features: Features, names: Sequence[str]) -> NDArray[np.bool_]:
        """Return whether each row has the feature values of a training row."""
        return np.isin(row_hashes(features, names), self.hashes)

    def exceeded_by(self, count: int, rows: int) -> bool:
        """Return whether more rows equal a training row than the duplicate rate explains.

        Where no held-out row repeats a training row, any row that does is one too many. Otherwise
        new rows repeat them as well, sometimes a few more: the count is then compared with what
        follows from the duplicates of the held-out rows (a beta-binomial distribution, which knows
        how many rows the rate rests on), and must be among its highest 1 %.
        """
        fresh = self.held_out - self.repeated
        if not self.repeated or not fresh:
            return count / rows > self.duplicate_rate
        return bool(betabinom.sf(count - 1, rows, self.repeated, fresh) < _CHANCE)


def row_hashes(features: Features, names: Sequence[str]) -> UInts:
    """Hash every row by the names and values of its columns, in whatever order they stand.

    Numbers are rounded to single precision, so that a value hashes alike from csv with 15 digits
    and from float64 and float32 columns of parquet. Missing numbers are one value, and a missing
    word is the empty one. The hash is a sum over the columns to which a zero adds nothing, so that
    a sparse row costs only its entries.
    """
    if isinstance(features, DiskFeatures):
        return np.concatenate([row_hashes(batch, names) for batch in features.batches()])
    keys = np.array([_hash_of(name) for name in names], dtype=np.uint64)
    total = np.zeros(features.shape[0], dtype=np.uint64)
    if isinstance(features, pl.DataFrame):
        for place, name in enumerate(names):
            total += _mixed(_bits(features[name]), keys[place : place + 1])
    else:
        matrix = sparse.csr_array(features)
        entries = _mixed(_float_bits(matrix.data), keys[matrix.indices])
        # Differences of running sums: both wrap around at 2⁶⁴, so they are exact.
        sums = np.append(np.zeros(1, dtype=np.uint64), np.cumsum(entries, dtype=np.uint64))
        total += np.diff(sums[matrix.indptr])
    return total


def _bits(column: pl.Series) -> UInts:
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return _float_bits(column.cast(pl.Float64).fill_null(float("nan")).to_numpy())
    if column.dtype.is_temporal():  # microseconds, whatever unit the column has
        kind = pl.Datetime if column.dtype in (pl.Date, pl.Datetime) else pl.Duration
        return column.cast(kind("us")).to_physical().fill_null(_NO_TIME).to_numpy().view(np.uint64)
    words = column.cast(pl.String)
    hashes = {word: _hash_of(word) for word in words.unique() if word}
    found = words.replace_strict(hashes, default=0, return_dtype=pl.UInt64)
    return found.fill_null(0).to_numpy()


def _float_bits(values: NDArray[np.float64]) -> UInts:
    with np.errstate(over="ignore"):
        single = values.astype(np.float32) + np.float32(0)  # -0 becomes 0
    single[np.isnan(single)] = np.float32("nan")
    return single.view(np.uint32).astype(np.uint64)


def _mixed(bits: UInts, keys: UInts) -> UInts:
    """Spread the bits of a value in a column over all 64 (the last steps of SplitMix64)."""
    mixed = bits ^ keys
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    mixed[bits == 0] = 0
    return mixed


def _hash_of(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
