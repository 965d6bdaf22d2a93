"""Several systems on the same rows: their metrics, and the differences of all pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

from rankwise.data import DataError, read_table
from rankwise.files import nan_to_none
from rankwise.metrics import Comparison, Interval, compare_many, holm
from rankwise.metrics.many import Correction
from rankwise.naming import metric
from rankwise.report import Table
from rankwise.report.format import p_value
from rankwise.tasks.compare import metrics as measures
from rankwise.tasks.compare.metrics import Floats, Truth
from rankwise.tasks.compare.score_file import trained_on, training_warning

_WORDS = {
    "randomized-tukey": "randomized Tukey HSD",
    "tukey-hsd": "Tukey HSD of a two-way layout",
    "holm": "Holm's method",
}


@dataclass(frozen=True)
class Pair:
    """One metric of two systems, with a p-value adjusted for the number of pairs."""

    metric: str
    a: str
    b: str
    found: Comparison


@dataclass(frozen=True)
class SystemsResult:
    """Metrics of several systems with their intervals, and the comparisons of all pairs."""

    path: Path
    rows: int
    positives: int
    lists: int | None
    metrics: dict[str, dict[str, Interval]]  # by metric, then by system
    pairs: tuple[Pair, ...]
    method: str
    without_target: int = 0
    trained_on: int | None = None  # rows that a model was trained on, where the file marks them

    @property
    def warning(self) -> str | None:
        """Why the numbers are too good, if a model was trained on some of the rows."""
        return training_warning(self.trained_on, self.rows)

    @property
    def table(self) -> Table:
        """One row for each metric and system, the best system of a metric first."""
        rows = [
            (name, system, f"{each.value:.4f}", f"{each.low:.4f} – {each.high:.4f}")
            for name, found in self.metrics.items()
            for system, each in _best_first(name, found)
        ]
        lists = "" if self.lists is None else f", {self.lists} lists"
        left = f" ({self.without_target} more without a target)" if self.without_target else ""
        words = f"{self.rows} rows{left}, {self.positives} positives{lists}"
        return Table(("metric", "system", "value", "95 % interval"), rows, words)

    def pair_tables(self) -> Iterator[tuple[str, Table]]:
        """Yield a title and a table of all pairs for every metric that is compared."""
        header = ("A", "B", "A − B", "95 % interval", "p", "verdict")
        for name in dict.fromkeys(pair.metric for pair in self.pairs):
            rows = [_cells(pair) for pair in self.pairs if pair.metric == name]
            yield f"{name}: differences of all pairs", Table(header, rows)

    @property
    def remark(self) -> str:
        """How the p-values were adjusted."""
        over = "rows" if self.lists is None else "lists"
        return (
            f"p is two-sided, paired over {over} and adjusted for the number of pairs by "
            f"{_WORDS[self.method]}; not for the number of metrics"
        )

    def as_json(self) -> dict[str, object]:
        """Return the content of a JSON file; what is not defined is null."""
        keys = ("value", "low", "high", "method")
        numbers = {
            name: {system: {k: getattr(each, k) for k in keys} for system, each in found.items()}
            for name, found in self.metrics.items()
        }
        pairs = [{"metric": p.metric, "a": p.a, "b": p.b, **asdict(p.found)} for p in self.pairs]
        return {
            "data": str(self.path),
            "rows": self.rows,
            "positives": self.positives,
            "rows_trained_on": self.trained_on,
            "rows_without_target": self.without_target,
            "lists": self.lists,
            "correction": self.method,
            "metrics": nan_to_none(numbers),
            "pairs": [nan_to_none(each) for each in pairs],
        }

    def as_frame(self) -> pl.DataFrame:
        """Return the pairs as a table."""
        rows = [{"metric": p.metric, "a": p.a, "b": p.b, **asdict(p.found)} for p in self.pairs]
        return pl.DataFrame(rows).with_columns(pl.selectors.float().fill_nan(None))


def evaluate_systems(
    path: Path,
    *,
    target: str,
    scores: Sequence[str],
    group: str | None = None,
    positive: str | None = None,
    metrics: Sequence[str] | None = None,
    correction: Correction = "randomized-tukey",
    seed: int = 0,
) -> SystemsResult:
    """Compute metrics of several columns of scores, and compare all pairs of them.

    The pairs are compared by the metrics named, or by the first of those that suit the data. With
    groups the comparison is over lists; in one list it is a paired bootstrap of the rows (DeLong's
    test for the AUC) with Holm's method, whatever the ``correction``.
    """
    grouped = group is not None
    asked = [measures.resolve_metric(name, grouped=grouped) for name in metrics or ()]
    graded = bool(asked) and all(map(measures.is_graded, asked))
    if twice := [name for name in dict.fromkeys(scores) if scores.count(name) > 1]:
        raise DataError(f"--score {twice[0]} was given twice; name every system once")
    tables = {
        score: read_table(
            path, target=target, score=score, group=group, positive=positive, graded=graded
        )
        for score in scores
    }
    table = next(iter(tables.values()))
    columns: dict[str, Floats] = {
        name: each.score for name, each in tables.items() if each.score is not None
    }
    names = asked or measures.every_metric(len(table), grouped=grouped, graded=table.graded)
    for name in names:
        measures.require_scale(name, table.target)
    truth = Truth(table.target, table.groups)
    found = {system: truth.intervals(names, own, seed=seed) for system, own in columns.items()}
    by_metric = {name: {system: each[name] for system, each in found.items()} for name in names}
    method: Correction = correction if grouped else "holm"
    pairs = [
        pair for name in asked or names[:1] for pair in _pairs(name, columns, truth, method, seed)
    ]
    lists = None if table.groups is None else len(np.unique(table.groups))
    return SystemsResult(
        path,
        len(table),
        table.positives,
        lists,
        by_metric,
        tuple(pairs),
        method,
        table.without_target,
        trained_on(path),
    )


def _pairs(
    name: str, columns: dict[str, Floats], truth: Truth, method: Correction, seed: int
) -> list[Pair]:
    """Return the comparisons of all pairs, the smallest p-value first."""
    systems = list(columns)
    if truth.groups is not None:
        values = np.stack([truth.by_list(name, own) for own in columns.values()])
        try:
            made = compare_many(values, method=method, seed=seed)
        except ValueError as error:
            raise DataError(f"{name}: {error}") from None
        pairs = [Pair(name, systems[a], systems[b], each) for (a, b), each in made.items()]
    else:
        alone = {
            (a, b): truth.difference(name, columns[a], columns[b], seed=seed)
            for a, b in combinations(systems, 2)
        }
        adjusted = holm([each.p_value for each in alone.values()])
        pairs = [
            Pair(name, a, b, replace(each, p_value=p))
            for ((a, b), each), p in zip(alone.items(), adjusted, strict=True)
        ]
    return sorted(pairs, key=lambda pair: (pair.found.p_value, -abs(pair.found.difference)))


def _best_first(name: str, found: dict[str, Interval]) -> list[tuple[str, Interval]]:
    sign = -1 if metric(name).higher_is_better else 1
    return sorted(found.items(), key=lambda item: sign * item[1].value)


def _cells(pair: Pair) -> tuple[object, ...]:
    found = pair.found
    a_is_better = (found.difference > 0) == metric(pair.metric).higher_is_better
    winner = pair.a if a_is_better else pair.b
    verdict = f"{winner} is better" if found.p_value < 0.05 else "no difference shown"
    interval = f"{found.low:+.4f} to {found.high:+.4f}"
    gap = f"{found.difference:+.4f}"
    return pair.a, pair.b, gap, interval, p_value(found.p_value), verdict
