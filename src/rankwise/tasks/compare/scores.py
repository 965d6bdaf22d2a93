"""Predict the scores of rows by a saved model, and evaluate scores by all metrics."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.data import DataError, read_columns, read_table
from rankwise.data._table_files import QUERY
from rankwise.data.files import format_of, read_svmlight, require_columns, scan_as_written
from rankwise.files import nan_to_none
from rankwise.metrics import Interval, OperatingPoint
from rankwise.report.comparison.run import Run, number
from rankwise.report.comparison.run_files import read_run
from rankwise.tasks.compare import metrics as measures
from rankwise.tasks.compare.class_scores import (
    ClassScores,
    OfClass,
    classes_frame,
    classes_json,
    evaluate_class_scores,
    has_class_scores,
    measure_classes,
    prediction_columns,
    prediction_names,
)
from rankwise.tasks.compare.classes import METRICS as CLASS_METRICS
from rankwise.tasks.compare.classes import ClassTruth
from rankwise.tasks.compare.metrics import Floats, Truth
from rankwise.tasks.compare.model import load_model
from rankwise.tasks.compare.operating import as_json, choose_points, daily_rows, read_rule
from rankwise.tasks.compare.run_files import require_run
from rankwise.tasks.compare.score_file import IN_TRAINING, trained_on, training_warning, typed
from rankwise.tasks.compare.slices import (
    Slice,
    as_frame,
    evaluate_slices,
    read_slices,
    slices_json,
)

_WRITTEN = ("score", "probability", IN_TRAINING)
_ALL = "all"


@dataclass(frozen=True, eq=False)
class Predictions:
    """A score and a probability for every row, after the columns that were kept.

    Of more than two classes the most likely one, and a score and a probability for each.
    """

    frame: pl.DataFrame
    warning: str | None = None  # that the model was trained on these rows
    remarks: tuple[str, ...] = ()  # values that could not be read, one sentence per column


def predict_file(
    model: Path,
    data: Path,
    *,
    keep: Sequence[str] = (),
    rows: NDArray[np.int64] | None = None,
) -> Predictions:
    """Score the rows of a file by a model that was saved.

    The columns are found by their names, in any order, and read as they were in training; others
    are ignored. In svmlight they are known by their numbers.

    Args:
        model: Folder of a run or of its model, or file of an estimator.
        data: File with the rows to score.
        keep: Columns of the file that stand before the scores, ``all`` for every one; svmlight
            has ``target`` and ``qid``.
        rows: Numbers of the rows to score, from 0; every row if not given.

    Where more rows equal a training row than duplicates explain, the column ``in_training`` marks
    them, and there is a warning.
    """
    loaded = load_model(model)
    features, remarks = read_columns(data, loaded.reading)
    own = (*prediction_names(loaded.classes), IN_TRAINING) if loaded.classes else _WRITTEN
    kept = kept_columns(data, keep, own)
    if rows is not None:
        if rows.max(initial=-1) >= features.shape[0]:
            raise DataError(f"{data}: has {features.shape[0]} rows, row {rows.max() + 1} is wanted")
        features, kept = features[rows], kept[rows] if kept.width else kept
    scores, shares = loaded.scores(features), loaded.probabilities(features)
    columns: Mapping[str, pl.Series | Floats] = {"score": scores, "probability": shares}
    if loaded.classes:
        columns = prediction_columns(loaded.classes, scores, shares)
    made, warning, known = pl.DataFrame(columns), None, loaded.training_rows
    if known is not None:
        marks = known.among(features, loaded.reading.names)
        count, total = int(marks.sum()), len(marks)
        if known.exceeded_by(count, total):
            made = made.with_columns(pl.Series(IN_TRAINING, marks))
            warning = (
                f"{count} of {total} rows ({100 * count / total:.1f} %) equal a row the model was "
                f"trained on ({100 * known.duplicate_rate:.1f} % of the held-out rows do): metrics "
                f"of these scores are not an estimate for new rows; the column {IN_TRAINING} marks "
                "the rows"
            )
    return Predictions(kept.hstack(made) if kept.width else made, warning, remarks)


def kept_columns(
    path: Path, keep: Sequence[str], written: Collection[str] = _WRITTEN
) -> pl.DataFrame:
    """Return the columns named, or every column for ``all``, with the values of the file.

    A string may name several columns, separated by commas. A column that the predictions have
    themselves is refused.
    """
    if not keep:
        return pl.DataFrame()
    source = _source(path)
    columns = source.collect_schema().names()
    names = _names(keep, columns)
    require_columns(path, columns, names, "--keep")
    taken = [name for name in names if name in written]
    if taken:
        raise DataError(
            f"{path}: --keep cannot keep the column {taken[0]!r}, since the predictions have a "
            f"column of that name; rename it in the file, or keep other columns by their names"
        )
    found = source.select(names).collect()
    return found if format_of(path) != "csv" else pl.DataFrame([typed(each) for each in found])


def _source(path: Path) -> pl.LazyFrame:
    kind = format_of(path)
    if kind != "svmlight":
        return scan_as_written(path, kind)
    read = read_svmlight(path)
    queries = {QUERY: read.queries} if len(read.queries) else {}
    return pl.LazyFrame({"target": read.target, **queries})


def _names(keep: Sequence[str], columns: Sequence[str]) -> list[str]:
    names: list[str] = []
    for text in keep:
        if text == _ALL:
            names += columns
        elif text in columns:  # one whose name has a comma
            names.append(text)
        else:
            names += [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise DataError(f"--keep must name a column or be {_ALL!r}, got {', '.join(keep)!r}")
    return list(dict.fromkeys(names))


@dataclass(frozen=True)
class EvaluationResult:
    """Metrics of scores with their intervals, and the numbers of rows and lists."""

    path: Path
    rows: int
    positives: int
    lists: int | None  # with groups
    left_out: int  # lists that have one class only, and so no value
    metrics: dict[str, Interval]
    graded_only: int = 0  # of those left out: all positive, which a metric of relevances takes
    trained_on: int | None = None  # rows that the model was trained on, where the file marks them
    without_target: int = 0  # rows that are left out
    candidate: str | None = None  # whose scores they are, where they are those of a run
    points: dict[str, OperatingPoint] = field(default_factory=dict)  # by rule
    column: str = "score"  # of the thresholds
    slices: tuple[Slice, ...] = ()  # of the columns that the rows are cut by
    more_paths: tuple[Path, ...] = ()  # further files, whose rows are part of the same list
    bounded: bool = False  # whether the values come from counts, with hard bounds
    by_class: tuple[OfClass, ...] = ()  # where the target has more than two classes

    @property
    def warning(self) -> str | None:
        """Why the numbers are too good, if the model was trained on some of the rows."""
        return training_warning(self.trained_on, self.rows)

    @property
    def caption(self) -> str:
        """The size of the data in words."""
        words = f"{self.rows} rows, {self.positives} positives"
        if self.by_class:
            words = f"{self.rows} rows, means over {len(self.by_class)} classes"
        if self.without_target:
            words += f" ({self.without_target} more rows without a target, left out)"
        if self.more_paths:
            words = f"{len(self.more_paths) + 1} files: {words}"
        if self.candidate is not None:
            words = f"{self.candidate}, held-out test rows of {self.path}: {words}"
        if self.lists is None:
            return words
        left_out = f" ({self.left_out} of one class only, left out)" if self.left_out else ""
        taken = ", ".join(filter(measures.is_graded, self.metrics)) if self.graded_only else ""
        more = f"; {taken}: over {self.graded_only} more, all positive" if taken else ""
        return f"{words}, mean over {self.lists - self.left_out} lists{left_out}{more}"

    def as_json(self) -> dict[str, object]:
        """Return the content of a JSON file; what is not defined is null."""
        keys = ["value", "low", "high", "method"]
        keys += ["lowest", "highest", "is_exact"] if self.bounded else []
        numbers = {n: {k: getattr(each, k) for k in keys} for n, each in self.metrics.items()}
        files = [str(path) for path in (self.path, *self.more_paths)]
        return {
            "data": files if self.more_paths else files[0],
            "memory": "bounded" if self.bounded else "all",
            "candidate": self.candidate,
            "rows": self.rows,
            **({} if self.by_class else {"positives": self.positives}),
            "rows_trained_on": self.trained_on,
            "rows_without_target": self.without_target,
            "lists": self.lists,
            "lists_left_out": self.left_out,
            "metrics": nan_to_none(numbers),
            "operating_points": [as_json(each, self.column) for each in self.points.values()],
            **({"slices": slices_json(self.slices)} if self.slices else {}),
            **({"classes": classes_json(self.by_class)} if self.by_class else {}),
        }

    def as_frame(self) -> pl.DataFrame:
        """Return the numbers as a table, with the slices or classes below those of all rows."""
        if self.by_class:
            return classes_frame(self.metrics, self.rows, self.by_class)
        lists = None if self.lists is None else self.lists - self.left_out
        counts = {"rows": self.rows, "positives": self.positives, "lists": lists}
        return as_frame(self.metrics, counts, self.slices)


def evaluate_scores(
    path: Path,
    *,
    target: str,
    score: str,
    group: str | None = None,
    positive: str | None = None,
    metrics: Sequence[str] | None = None,
    by: Sequence[str] = (),
    seed: int = 0,
    rules: Sequence[str] = (),
    rows_per_day: float | None = None,
    time: str | None = None,
) -> EvaluationResult:
    """Compute every metric that suits the data, or those named, with 95 % intervals.

    The target may hold relevances where all metrics named take them. Rows that ``rankwise
    predict`` has marked as trained on are counted. ``rules`` choose thresholds. With ``by`` the
    metrics named, or the first of those that suit the data, are also computed for every value of
    these columns.

    Where the file has no column ``score`` but one for every class of the target, such as
    ``score_setosa``, the metrics are means over the classes.
    """
    for rule in rules:
        read_rule(rule, grouped=group is not None)
    grouped = group is not None
    asked = [measures.resolve_metric(n, grouped=grouped, several=True) for n in metrics or ()]
    graded = bool(asked) and all(map(measures.is_graded, asked))
    if positive is None and has_class_scores(path, score):
        _require_two(path, {"--group": group, "--by": by, "--threshold": rules})
        several = evaluate_class_scores(
            path, target=target, score=score, metrics=metrics, seed=seed
        )
        return _of_classes(path, several)
    for name in asked:
        measures.require_two_classes(name)
    table = read_table(
        path, target=target, score=score, group=group, positive=positive, graded=graded, time=time
    )
    if table.score is None:
        raise DataError(f"{path}: there are no scores in it")
    names = asked or measures.every_metric(len(table), grouped=grouped, graded=table.graded)
    for name in names:
        measures.require_scale(name, table.target)
    if table.without_target and (estimates := [n for n in asked if n.startswith("infap")]):
        raise DataError(
            f"{path}: {table.without_target} rows have no target, which {estimates[0]} takes as "
            "labels that were not drawn, not as rows to leave out; compute it with "
            "rankwise.metrics.inferred_average_precision and the target -1 there"
        )
    truth = Truth(table.target, table.groups)
    cut = read_slices(table.path, by, table.in_file(np.arange(len(table)))) if by else {}
    found = _measure(table.path, names, table.score, truth, graded=table.graded, seed=seed)
    if rules and table.graded:
        raise DataError(f"{path}: the target holds relevances, and --threshold needs two classes")
    daily = daily_rows(rules, table, rows_per_day)
    return replace(
        found,
        trained_on=trained_on(table.path),
        without_target=table.without_target,
        points=choose_points(rules, table.score, truth, daily),
        slices=evaluate_slices(cut, asked or names[:1], table.score, truth, seed=seed),
    )


def _of_classes(path: Path, found: ClassScores) -> EvaluationResult:
    return EvaluationResult(
        path,
        found.rows,
        0,
        None,
        0,
        found.metrics,
        trained_on=trained_on(path),
        without_target=found.without_target,
        by_class=found.by_class,
    )


def _require_two(path: Path, options: Mapping[str, object]) -> None:
    """Raise on options that more than two classes do not have."""
    given = [name for name, value in options.items() if value]
    if given:
        raise DataError(
            f"{path}: {given[0]} is for a target of two classes; name one class with --positive, "
            "and its scores with --score"
        )


def evaluate_run(
    folder: Path,
    *,
    metrics: Sequence[str] | None = None,
    seed: int | None = None,
    rules: Sequence[str] = (),
    rows_per_day: float | None = None,
) -> EvaluationResult:
    """Evaluate the recommended model of a comparison on the test rows that it held out.

    The scores are those that the run kept; with the run's own seed, which is the default, the
    numbers are those of its results. ``rules`` choose thresholds on the probabilities of these
    rows, or on the scores of a run without probabilities. Rows per day that are not given are
    those of the run, if it knows them.
    """
    require_run(folder)
    run = read_run(folder)
    if run.classes:
        _require_two(folder, {"--threshold": rules})
        return _evaluate_class_run(folder, run, metrics, seed)
    for rule in rules:
        read_rule(rule, grouped=run.grouped)
    kept, graded = run.predictions, run.config.get("positive_value") is None
    weight = kept.weight if run.config.get("weight") else None
    asked = [measures.resolve_metric(name, grouped=run.grouped) for name in metrics or ()]
    for name, metric in zip(metrics or (), asked, strict=True):
        measures.require_weights(metric, weight)
        if graded and not measures.is_graded(metric):
            raise DataError(
                f"{folder}: the target holds relevances, which metric {name!r} does not take; "
                "ndcg does, such as ndcg@10"
            )
    others = measures.every_metric(len(kept.target), grouped=run.grouped, graded=graded)
    names = asked or list(dict.fromkeys([run.metric, *others]))
    names = [name for name in names if measures.takes_weights(name, weight)]
    scores, truth = kept.scores[run.recommended.number], Truth(kept.target, kept.group, weight)
    drawn = int(number(run.config.get("seed", 0))) if seed is None else seed
    found = _measure(folder, names, scores, truth, graded=graded, seed=drawn)
    daily = (number(where.get("rows_per_day")) for where in (run.config, run.data))
    own = next((rows for rows in daily if rows > 0), None)
    probability = kept.probabilities.get(run.recommended.number)
    values, column = (scores, "score") if probability is None else (probability, "probability")
    return replace(
        found,
        candidate=run.recommended.name,
        points=choose_points(rules, values, truth, rows_per_day or own, of_run=True),
        column=column,
    )


def _evaluate_class_run(
    folder: Path, run: Run, metrics: Sequence[str] | None, seed: int | None
) -> EvaluationResult:
    kept = run.predictions
    weight = kept.weight if run.config.get("weight") else None
    truth = ClassTruth(kept.target, None, weight, len(run.classes))
    drawn = int(number(run.config.get("seed", 0))) if seed is None else seed
    scores = kept.scores[run.recommended.number]
    names = metrics or list(dict.fromkeys([run.metric, *CLASS_METRICS]))
    found, by_class = measure_classes(truth, run.classes, scores, names, seed=drawn)
    rows, name = len(kept.target), run.recommended.name
    return EvaluationResult(folder, rows, 0, None, 0, found, candidate=name, by_class=by_class)


def _measure(
    path: Path, names: Sequence[str], scores: Floats, truth: Truth, *, graded: bool, seed: int
) -> EvaluationResult:
    metrics = truth.intervals(names, scores, seed=seed)
    target, groups = truth.target, truth.groups
    lists, left_out, whole = None, 0, 0
    if groups is not None:
        sizes, positive = np.bincount(groups), np.bincount(groups, weights=target > 0)
        whole = 0 if graded else int((positive == sizes).sum())
        lists, left_out = len(sizes), int((positive == 0).sum()) + whole
    positives = int(np.count_nonzero(target))
    return EvaluationResult(path, len(target), positives, lists, left_out, metrics, whole)
