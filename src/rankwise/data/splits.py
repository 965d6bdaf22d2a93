"""Splits of a table into training, validation and test rows, and folds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankwise.data.errors import DataError
from rankwise.data.table import Rows, Table
from rankwise.errors import short_repr

FOLDS = 5
FEW = 100  # positives (lists, where there are groups) below which one validation part is noise
_LEAST = 2  # positives and negatives of every part: fewer leave no variance


@dataclass(frozen=True, eq=False)
class Split:
    """Three parts of a table that share no row and no group.

    Attributes:
        train: Row numbers of the training part, ascending.
        validation: Row numbers of the validation part.
        test: Row numbers of the test part.
        kind: ``"stratified"``, ``"grouped"`` or ``"by time"``.

    Example:
        >>> import numpy as np
        >>> from rankwise.data import Split
        >>> parts = Split(np.array([0, 3]), np.array([1]), np.array([2]), "stratified")
        >>> parts.development
        array([0, 1, 3])
    """

    train: Rows
    validation: Rows
    test: Rows
    kind: str

    @property
    def development(self) -> Rows:
        """Everything but the test part."""
        return np.sort(np.concatenate([self.train, self.validation]))

    def in_file(self, table: Table) -> Split:
        """Return the parts by the row numbers of the file, which may have rows without a target."""
        train, validation, test = map(table.in_file, (self.train, self.validation, self.test))
        return Split(train, validation, test, self.kind)

    def periods(self, table: Table) -> dict[str, str]:
        """Return the first and last time of each part; empty without a time column."""
        parts = {"train": self.train, "validation": self.validation, "test": self.test}
        found = {name: table.period(rows) for name, rows in parts.items()}
        return {name: period for name, period in found.items() if period is not None}


def split(table: Table, *, validation: float = 0.2, test: float = 0.2, seed: int = 0) -> Split:
    """Split a table into training, validation and test rows.

    Rows are drawn within each class, so that all parts have the same share of positives. With
    groups whole lists are drawn, those with a positive apart from those without. With a time
    column the last rows are the test part, those before them validation, and rows (or groups) of
    one time stay together.

    Args:
        table: The table.
        validation: Share of the rows (or groups) for validation.
        test: Share of the rows (or groups) for the test.
        seed: Seed of the draw.

    Returns:
        The row numbers of the three parts.

    Raises:
        ValueError: The shares leave no rows to train on.
        DataError: A part has fewer than 2 positives or negatives.

    Example:
        >>> import numpy as np
        >>> from pathlib import Path
        >>> from rankwise.data import Table, split
        >>> target = np.tile([0.0, 0.0, 1.0, 1.0], 10)
        >>> table = Table(Path("t.csv"), target[:, None], ("x",), ("numeric",), target)
        >>> parts = split(table, seed=0)
        >>> len(parts.train), len(parts.validation), len(parts.test), parts.kind
        (24, 8, 8, 'stratified')
    """
    if not (validation > 0 and test > 0 and validation + test < 1):
        raise ValueError(
            f"validation and test must be > 0 and leave a part to train on, "
            f"got {validation} and {test}"
        )
    units, strata, times = _units(table)
    shares = (1 - validation - test, validation, test)
    if times is not None:
        order, edges = np.sort(times), np.cumsum(shares)[:-1]
        cuts = order[np.minimum(len(order) - 1, (edges * len(order)).astype(np.int64))]
        part = np.searchsorted(cuts, times, side="right")
        kind = "by time"
    else:
        part = _dealt(strata, shares, np.random.default_rng(seed))
        kind = "stratified" if table.groups is None else "grouped"
    names = ("train", "validation", "test")
    rows = {name: np.flatnonzero(part[units] == number) for number, name in enumerate(names)}
    for name, own in rows.items():
        _require_both(table, own, name)
    return Split(**rows, kind=kind)


def folds(
    table: Table, rows: Rows, *, count: int = FOLDS, seed: int = 0
) -> list[tuple[Rows, Rows]]:
    """Split some rows into pairs of rows to fit on and rows to validate on (cross-validation).

    Args:
        table: The table.
        rows: Row numbers to split; groups stay whole.
        count: Number of folds.
        seed: Seed of the draw.

    Returns:
        For every fold, the row numbers to fit on and those to validate on.

    Example:
        >>> import numpy as np
        >>> from pathlib import Path
        >>> from rankwise.data import Table, folds
        >>> target = np.tile([0.0, 0.0, 1.0, 1.0], 10)
        >>> table = Table(Path("t.csv"), target[:, None], ("x",), ("numeric",), target)
        >>> [(len(fit), len(rest)) for fit, rest in folds(table, np.arange(40), count=4)]
        [(30, 10), (30, 10), (30, 10), (30, 10)]
    """
    units, strata, _ = _units(table)
    members, at = np.unique(units[rows], return_inverse=True)
    place = _dealt(strata[members], (1 / count,) * count, np.random.default_rng(seed))[at]
    found = [(rows[place != number], rows[place == number]) for number in range(count)]
    for number, pair in enumerate(found):
        for part_rows in pair:
            _require_both(table, part_rows, f"fold {number + 1}")
    return found


def count_positives(table: Table, rows: Rows) -> int:
    """Count the positives, or the lists with one: the sample size of a metric.

    That of a mean over C classes is C² / Σ_c 1/n_c: of equal classes all rows, and of a rare one
    among them little more than C times its own.
    """
    if table.classes:
        counts = np.array([*table.class_counts(rows).values()], dtype=np.float64)
        return int(len(counts) ** 2 / (1 / counts).sum()) if counts.all() else 0
    positive = table.target[rows] > 0
    if table.groups is None:
        return int(positive.sum())
    return len(np.unique(table.groups[rows][positive]))


def rarest_count(table: Table, rows: Rows) -> int:
    """Count the positives as :func:`count_positives`, or the rows of the rarest of the classes."""
    if table.classes:
        return min(table.class_counts(rows).values())
    return count_positives(table, rows)


def _units(table: Table) -> tuple[Rows, Rows, NDArray[np.float64] | None]:
    """Return the unit (row or group) of every row, and stratum and time of every unit."""
    stratum = (table.target if table.classes else table.target > 0).astype(np.int64)
    if table.groups is None:
        return np.arange(len(table)), stratum, table.time
    _, units = np.unique(table.groups, return_inverse=True)
    strata = np.zeros(units.max() + 1, dtype=np.int64)
    np.maximum.at(strata, units, stratum)
    if table.time is None:
        return units, strata, None
    times = np.full(len(strata), np.inf)
    np.minimum.at(times, units, table.time)
    return units, strata, times


def _dealt(strata: Rows, shares: tuple[float, ...], rng: np.random.Generator) -> Rows:
    """Return a part for every unit, by shares within every stratum."""
    part = np.empty(len(strata), dtype=np.int64)
    edges = np.cumsum(shares)[:-1]
    for stratum in np.unique(strata):
        members = rng.permutation(np.flatnonzero(strata == stratum))
        # Places rather than counts: a remainder goes to the parts in turn.
        place = (np.arange(len(members)) + 0.5) / len(members)
        part[members] = np.searchsorted(edges, place, side="right")
    return part


def _require_both(table: Table, rows: Rows, name: str) -> None:
    if table.classes:
        counts = table.class_counts(rows)
        rarest = min(counts, key=lambda label: counts[label])
        if counts[rarest] < _LEAST:
            every = table.class_counts(np.arange(len(table)))[rarest]
            raise DataError(
                f"{table.path}: the {name} part has {counts[rarest]} rows of the class "
                f"{short_repr(rarest)}, at least {_LEAST} are needed; the table has {every} in "
                f"{len(table)} rows: add rows of it, join it with another class, or leave it out"
            )
        return
    positives = int(np.count_nonzero(table.target[rows]))
    negatives = len(rows) - positives
    if min(positives, negatives) < _LEAST:
        raise DataError(
            f"{table.path}: the {name} part has {positives} positives and {negatives} negatives, "
            f"at least {_LEAST} of each are needed; the table has {table.positives} positives in "
            f"{len(table)} rows"
        )
