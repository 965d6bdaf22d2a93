"""Evaluate scores by all metrics: those of a table, or those that a run kept of its test rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from rankwise.data import DataError, read_table
from rankwise.report.comparison.run import Run, number
from rankwise.report.comparison.run_files import read_run
from rankwise.tasks.compare import metrics as measures
from rankwise.tasks.compare.class_scores import (
    ClassScores,
    evaluate_class_scores,
    has_class_scores,
    measure_classes,
)
from rankwise.tasks.compare.classes import METRICS as CLASS_METRICS
from rankwise.tasks.compare.classes import ClassTruth
from rankwise.tasks.compare.evaluation import EvaluationResult
from rankwise.tasks.compare.metrics import Floats, Truth
from rankwise.tasks.compare.operating import choose_points, daily_rows, read_rule
from rankwise.tasks.compare.run_files import require_run
from rankwise.tasks.compare.score_file import trained_on
from rankwise.tasks.compare.slices import evaluate_slices, read_slices


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
