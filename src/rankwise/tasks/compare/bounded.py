"""Metrics of columns of scores in bounded memory: of files larger than memory, or of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwise.data import DataError
from rankwise.data.scores import Labels, ScoreFiles, is_large
from rankwise.metrics import BoundedInterval, Interval, ScoreHistogram, bounded_intervals
from rankwise.naming import metric
from rankwise.tasks.compare import metrics as measures
from rankwise.tasks.compare.evaluation import EvaluationResult
from rankwise.tasks.compare.score_file import IN_TRAINING

__all__ = ["HISTOGRAM", "evaluate_bounded", "is_large", "shown_bounds"]

HISTOGRAM = ".npz"
"""Ending of a file with the counts of a histogram."""


@dataclass
class _Parts:
    """The scores of files with their classes, which can be read again."""

    files: ScoreFiles
    labels: Labels
    kind: type[np.floating] = np.float32  # of the scores: the widest of all files

    def __iter__(self) -> Iterator[tuple[NDArray[Any], NDArray[np.bool_]]]:
        for batch in self.files:
            yield batch.scores.astype(self.kind, copy=False), self.labels.of(batch)


def evaluate_bounded(
    paths: Sequence[Path],
    *,
    target: str | None = None,
    score: str | None = None,
    positive: str | None = None,
    metrics: Sequence[str] | None = None,
    seed: int = 0,
    save: Path | None = None,
) -> EvaluationResult:
    """Compute metrics of the rows of all files as one list, in the memory of one batch of rows.

    Tables are counted in a first pass and read again until the values are exact. Of a file of
    counts there are only the counts, and so hard bounds.

    Args:
        paths: Tables (csv or parquet), and files of counts that were saved.
        target: Target column of the tables.
        score: Column of the scores of the tables.
        positive: Value of the target that is the positive class.
        metrics: Names of the metrics; all that suit the data if not given.
        seed: Seed of the bootstrap.
        save: File to write the counts of all files to.
    """
    asked = [measures.resolve_metric(name, grouped=False) for name in metrics or ()]
    for name in asked:
        if not metric(name).setting.kernel.takes_buckets:
            raise DataError(
                f"metric {name} needs every row, and counts in bounded memory do not have them; "
                "leave it out, or pass one table with --memory all"
            )
    counted = [path for path in paths if path.suffix == HISTOGRAM]
    tables = tuple(path for path in paths if path.suffix != HISTOGRAM)
    histogram, without_target, trained_on = ScoreHistogram(), 0, None
    parts = None
    if tables:
        if target is None or score is None:
            raise DataError(f"--target and --score must be given for a table such as {tables[0]}")
        labels = Labels(positive)
        parts = _Parts(ScoreFiles(tables, target, score, IN_TRAINING), labels)
        for batch in parts.files:
            histogram.add(batch.scores, labels.of(batch))
            if batch.scores.dtype == np.float64:
                parts.kind = np.float64
            without_target += batch.left_out
            if batch.marked is not None:
                trained_on = (trained_on or 0) + batch.marked
        if not histogram.counts.any():
            raise DataError(f"{tables[0]}: the target {target!r} has no value in any row")
        _decide(labels, histogram, tables, target, alone=save is None and not counted)
    for path in counted:
        histogram += _load(path)
    if save is not None:
        histogram.save(save)
    rows, positives = int(histogram.counts.sum()), int(histogram.counts[1].sum())
    names = asked or measures.every_metric(rows, grouped=False, graded=False)
    found = bounded_intervals(
        [metric(name) for name in names], histogram, None if counted else parts, seed=seed
    )
    values: dict[str, Interval] = dict(zip(names, found, strict=True))
    return EvaluationResult(
        paths[0],
        rows,
        positives,
        lists=None,
        left_out=0,
        metrics=values,
        trained_on=trained_on,
        without_target=without_target,
        more_paths=tuple(paths[1:]),
        bounded=True,
    )


def _decide(
    labels: Labels, histogram: ScoreHistogram, tables: Sequence[Path], target: str, *, alone: bool
) -> None:
    """Decide which class is positive, and turn the counts round where it was the other one."""
    try:
        as_counted = labels.decide(one_class=not alone)
    except DataError as error:
        more = f" and {len(tables) - 1} more" if len(tables) > 1 else ""
        hint = "" if alone or labels.asked else "; a part of one class needs --positive"
        raise DataError(f"{tables[0]}{more}: the target {target!r} {error}{hint}") from None
    if not as_counted:
        histogram.counts[:] = histogram.counts[::-1].copy()


def _load(path: Path) -> ScoreHistogram:
    if not path.exists():
        raise DataError(f"{path}: there is no such file")
    try:
        return ScoreHistogram.load(path)
    except ValueError as error:
        raise DataError(f"{error}; write one with rankwise evaluate --save-histogram") from None


def shown_bounds(each: Interval) -> str:
    """Return the hard bounds of a value in words."""
    if not isinstance(each, BoundedInterval) or each.is_exact:
        return "exact"
    return f"{each.lowest:.6f} – {each.highest:.6f}"
