"""What drives the scores: the metric lost where a column is shuffled."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.stats import t as student

from rankwise.data import Features
from rankwise.report import write_json
from rankwise.tasks.compare.problem import Problem
from rankwise.tasks.compare.selection import Evaluation, Tested

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

IMPORTANCE = "importance.json"
SHARE = 0.1  # of the budget
_LEAST_SECONDS = 2.0
_REPEATS = (3, 10)  # shuffles of a column, at least and at most
_LEAST_ROWS = 200
_MOST_COLUMNS = 300


@dataclass(frozen=True)
class _Amount:
    """How much is measured, so that it ends in time."""

    repeats: int
    share: float  # of the rows


def importance_of(
    folder: Path, number: int, problem: Problem, evaluation: Evaluation
) -> dict[str, Any]:
    """The permutation importance of the columns for a candidate, on rows it has not seen.

    A column as it stands in the table is shuffled whole, with all that is made of it, 3 to 10
    times; what the metric loses is its importance, with Student's 95 % interval over the shuffles.
    It takes a tenth of the budget, at least 2 seconds: with less time fewer shuffles, then
    fewer rows, and of more than 300 columns those whose values go most with the scores. What was
    measured is kept in the folder, so that a resumed run reports the same.
    """
    scores = evaluation.scores(number)
    key = hashlib.sha256(np.ascontiguousarray(scores).tobytes()).hexdigest()
    path = folder / IMPORTANCE
    known = _read(path)
    if known is not None and known.get("scores") == key:
        return {name: value for name, value in known.items() if name != "scores"}
    seconds = max(_LEAST_SECONDS, SHARE * problem.settings.budget)
    found = _measured(evaluation.tested(number), problem, seconds)
    found["part"] = evaluation.words
    write_json(path, {"scores": key, **found})
    return found


def _measured(tested: Sequence[Tested], problem: Problem, seconds: float) -> dict[str, Any]:
    rng = np.random.default_rng(problem.settings.seed)
    total = sum(len(each.rows) for each in tested)
    names = problem.table.names
    began = time.perf_counter()
    scores = [each.model.scores(problem.table.of(each.rows)) for each in tested]
    one_pass = time.perf_counter() - began
    columns = _telling(problem.table.of(tested[0].rows), scores[0])
    amount = _amount(seconds / (one_pass * len(columns)), total)
    losses: dict[int, list[float]] = {column: [] for column in columns}
    used, bases = 0, []
    for each in tested:
        rows = _some(problem, each.rows, amount.share, rng)
        features = problem.table.of(rows)
        used += len(rows)
        base = problem.value(each.model.scores(features), rows)
        bases.append(base)
        for _ in range(amount.repeats):
            for column in columns:
                shuffled = _shuffled(features, column, rng.permutation(len(rows)))
                losses[column].append(base - problem.value(each.model.scores(shuffled), rows))
    measured = [_column(names[column], values) for column, values in losses.items()]
    return {
        "metric": problem.metric,
        "value": float(np.mean(bases)),
        "rows": used,
        "of_rows": total,
        "repeats": amount.repeats,
        "of_columns": len(names),
        "columns": sorted(measured, key=lambda row: -row["mean"]),
    }


def _column(name: str, values: Sequence[float]) -> dict[str, Any]:
    found = np.asarray(values)
    error = float(found.std(ddof=1) / np.sqrt(len(found)))
    reach = float(student.ppf(0.975, len(found) - 1) * error)
    mean = float(found.mean())
    return {"name": name, "mean": mean, "low": mean - reach, "high": mean + reach}


def _amount(passes: float, rows: int) -> _Amount:
    """What so many passes over all columns and rows allow."""
    least, most = _REPEATS
    if passes >= least:
        return _Amount(min(most, int(passes)), 1.0)
    return _Amount(least, min(1.0, max(passes / least, _LEAST_ROWS / rows)))


def _telling(features: Features, scores: Floats) -> list[int]:
    """The columns to measure: all, or of very many those of numbers that go with the scores."""
    count = features.shape[1]
    if count <= _MOST_COLUMNS:
        return list(range(count))
    centered = scores - scores.mean()
    strength = np.empty(count)
    for column in range(count):
        values = _numbers(features, column)
        if values is None:  # words are not left out
            strength[column] = np.inf
            continue
        spread = values.std()
        strength[column] = abs(centered @ values) / spread if spread > 0 else 0.0
    return sorted(np.argsort(-strength, kind="stable")[:_MOST_COLUMNS].tolist())


def _numbers(features: Features, column: int) -> Floats | None:
    if isinstance(features, pl.DataFrame):
        series = features.to_series(column)
        if not series.dtype.is_numeric():
            return None
        values = series.cast(pl.Float64).to_numpy()
    else:
        values = _dense(features, column).ravel()
    return np.nan_to_num(np.asarray(values, dtype=np.float64))


def _shuffled(features: Features, column: int, order: Rows) -> Features:
    if isinstance(features, pl.DataFrame):
        return features.with_columns(features.to_series(column)[order])
    values = _dense(features, column)[order]
    array: Any = features
    changed = array.tolil(copy=True) if issparse(array) else array.copy()
    changed[:, [column]] = values
    return changed.tocsr() if issparse(array) else changed


def _dense(features: Any, column: int) -> Floats:
    picked = features[:, [column]]
    return np.asarray(picked.toarray() if issparse(picked) else picked)


def _some(problem: Problem, rows: Rows, share: float, rng: np.random.Generator) -> Rows:
    """A share of the rows of each class, or of the lists."""
    if share >= 1:
        return rows
    groups = problem.groups(rows)
    if groups is not None:
        ids, which = np.unique(groups, return_inverse=True)
        return rows[rng.permutation(len(ids))[which] < max(2, round(share * len(ids)))]
    positive = problem.table.target[rows] > 0
    chosen = [
        rng.permutation(part)[: max(2, round(share * len(part)))]
        for part in (rows[positive], rows[~positive])
    ]
    return np.sort(np.concatenate(chosen))


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text())
        return found if isinstance(found, dict) else None
    except (OSError, ValueError):
        return None
