"""Permutation importance: the metric lost when the values of a column are shuffled."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from rankwise.data.disk import DiskFeatures
from rankwise.data.table import Features, MemoryFeatures
from rankwise.report import write_whole
from rankwise.seals import read_sealed_json, sealed_json
from rankwise.tasks.compare.metrics import Floats, corrected
from rankwise.tasks.compare.model import Model
from rankwise.tasks.compare.problem import Problem, Rows
from rankwise.tasks.compare.selection import Evaluation

IMPORTANCE = "importance.json"
SHARE = 0.1  # of the budget
_MIN_SECONDS = 2.0
_REPEATS = (3, 10)  # minimum and maximum number of shuffles of a column
_MIN_ROWS = 200
_MAX_COLUMNS = 300
_IN_MEMORY = 200_000  # rows of features that otherwise stay on disk


def importance_of(
    folder: Path, number: int, problem: Problem, evaluation: Evaluation
) -> dict[str, object]:
    """Measure the permutation importance of the columns for a candidate, on held-out rows.

    A column as it stands in the table is shuffled whole, with all that is made of it, 3 to 10
    times; what the metric loses is its importance, with Student's 95 % interval over the shuffles.
    It takes a tenth of the budget, at least 2 seconds: with less time fewer shuffles, then
    fewer rows, and of more than 300 columns those most correlated with the scores. What was
    measured is kept in the folder, so that a resumed run reports the same.
    """
    scores = evaluation.scores(number)
    key = hashlib.sha256(np.ascontiguousarray(scores).tobytes()).hexdigest()
    path = folder / IMPORTANCE
    try:
        known: dict[str, object] = read_sealed_json(path.read_bytes())
        if known.pop("scores") == key:
            return known
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # not measured yet, or not whole
    seconds = max(_MIN_SECONDS, SHARE * problem.settings.budget)
    found = _measured(evaluation.tested(number), problem, seconds, evaluation.description)
    write_whole(path, sealed_json({"scores": key, **found}))
    return found


def _measured(
    tested: Sequence[tuple[Model, Rows]], problem: Problem, seconds: float, part: str
) -> dict[str, object]:
    rng = np.random.default_rng(problem.settings.seed)
    total = sum(len(rows) for _, rows in tested)
    names = problem.table.names
    began = time.perf_counter()
    scores = [model.scores(problem.table.of(rows)) for model, rows in tested]
    one_pass = time.perf_counter() - began
    some = slice(_IN_MEMORY if problem.settings.out_of_core else None)
    shown = _in_memory(problem.table.of(tested[0][1][some]))
    columns = _columns_to_measure(shown, scores[0][some])
    repeats, share = _amount(seconds / (one_pass * len(columns)), total)
    if problem.settings.out_of_core:  # the rows that are shuffled are in memory
        share = min(share, _IN_MEMORY / total)
    losses: dict[int, list[float]] = {column: [] for column in columns}
    used, bases = 0, []
    for model, every in tested:
        rows = problem.sample(every, share, 2, rng)
        features = _in_memory(problem.table.of(rows))
        used += len(rows)
        base = problem.value(model.scores(features), rows)
        bases.append(base)
        for _ in range(repeats):
            for column in columns:
                shuffled = _shuffled(features, column, rng.permutation(len(rows)))
                losses[column].append(base - problem.value(model.scores(shuffled), rows))
    # Shuffles are independent: nothing to correct for.
    found = {names[column]: corrected(values, 1, 0) for column, values in losses.items()}
    ordered = sorted(found, key=lambda name: -found[name].mean)
    return {
        "metric": problem.metric,
        "value": float(np.mean(bases)),
        "rows": used,
        "of_rows": total,
        "repeats": repeats,
        "of_columns": len(names),
        "columns": [
            {"name": n, "mean": found[n].mean, "low": found[n].low, "high": found[n].high}
            for n in ordered
        ],
        "part": part,
    }


def _amount(passes: float, rows: int) -> tuple[int, float]:
    """Return the shuffles and the share of rows that a number of full passes allows."""
    least, most = _REPEATS
    if passes >= least:
        return min(most, int(passes)), 1.0
    return least, min(1.0, max(passes / least, _MIN_ROWS / rows))


def _in_memory(features: Features) -> MemoryFeatures:
    return features.frame() if isinstance(features, DiskFeatures) else features


def _columns_to_measure(features: MemoryFeatures, scores: Floats) -> list[int]:
    """Return all columns, or of very many those most correlated with the scores."""
    count = features.shape[1]
    if count <= _MAX_COLUMNS:
        return list(range(count))
    centered = scores - scores.mean(axis=0)
    strength = np.full(count, np.inf)
    for column in range(count):
        values = _numbers(features, column)
        if values is not None:  # words are not left out
            spread = values.std()
            strength[column] = np.abs(values @ centered).max() / spread if spread > 0 else 0.0
    return sorted(np.argsort(-strength, kind="stable")[:_MAX_COLUMNS].tolist())


def _numbers(features: MemoryFeatures, column: int) -> Floats | None:
    """Return a column as numbers; None for one of words."""
    if isinstance(features, pl.DataFrame):
        series = features.to_series(column)
        return np.nan_to_num(series.cast(pl.Float64)) if series.dtype.is_numeric() else None
    picked = features[:, [column]]
    return np.nan_to_num(picked if isinstance(picked, np.ndarray) else picked.toarray()).ravel()


def _shuffled(features: MemoryFeatures, column: int, order: Rows) -> MemoryFeatures:
    if isinstance(features, pl.DataFrame):
        return features.with_columns(features.to_series(column)[order])
    changed = features.copy() if isinstance(features, np.ndarray) else features.tolil(copy=True)
    changed[:, [column]] = features[:, [column]][order]
    return changed if isinstance(changed, np.ndarray) else changed.tocsr()
