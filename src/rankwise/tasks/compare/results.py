"""The results of a run, and the files that hold them: results, predictions, recommended model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NotRequired, TypedDict

from rankwise.files import write_npz
from rankwise.report import write_csv, write_json
from rankwise.tasks.compare.candidates import Params
from rankwise.tasks.compare.fit import Fitted
from rankwise.tasks.compare.importance import ImportanceResult
from rankwise.tasks.compare.metrics import Estimate, every_metric, takes_weights
from rankwise.tasks.compare.problem import Problem
from rankwise.tasks.compare.run_files import write_parts
from rankwise.tasks.compare.selection import Choice, Evaluation, validation_of

Numbers = dict[str, float | None]  # with an interval; what is not defined is null


class CandidateResult(TypedDict):
    """A row of ``results.json``."""

    name: str
    model: str
    objective: str
    baseline: bool
    validation: Numbers
    test: Numbers
    difference: Numbers | None
    seconds: float
    cut_short: bool
    trials: int
    params: Params
    curve: list[list[float]]


class Results(TypedDict):
    """The content of ``results.json``."""

    metric: str
    data: dict[str, object]
    columns: list[dict[str, object]]
    evaluation: str
    choice: str
    candidates: list[CandidateResult]
    recommended: int
    why: str
    left_out: dict[str, str]
    other_metrics: dict[str, list[float | None]]
    decided: NotRequired[bool]
    verdict: NotRequired[str]
    importance: NotRequired[ImportanceResult]
    remarks: NotRequired[list[str]]


def results_of(
    fitted: Sequence[Fitted],
    choice: Choice,
    problem: Problem,
    left_out: Mapping[str, str],
    evaluation: Evaluation,
) -> Results:
    """Evaluate all candidates on the tested rows, once, after the choice."""
    table, parts = problem.table, problem.plan.parts
    numbers = range(len(fitted))
    grouped = table.groups is not None
    names = every_metric(len(evaluation.rows), grouped=grouped, graded=table.graded)
    counts = {
        "rows_without_target": table.without_target,
        "rows_of_weight_0": table.without_weight,
        "periods": parts.periods(table),  # from when to when, where there is a time column
    }
    return {
        "metric": problem.metric,
        "data": {
            "path": str(table.path),
            "rows": len(table),
            "features": len(table.names),
            "positives": table.positives,
            "train": len(parts.train),
            "validation": len(parts.validation),
            "test": len(evaluation.rows),
            **{name: value for name, value in counts.items() if value},
        },
        "columns": [asdict(column) for column in table.columns],
        "evaluation": evaluation.description,
        "choice": problem.plan.describe(len(fitted[choice.baseline].folds)),
        "candidates": [
            _candidate(number, fitted[number], choice.baseline, problem, evaluation)
            for number in numbers
        ],
        "recommended": choice.recommended,
        "why": choice.why,
        "left_out": dict(left_out),
        "other_metrics": {
            name: [_number(evaluation.value(number, name)) for number in numbers]
            for name in names
            if name != problem.metric and takes_weights(name, table.weight)
        },
    }


def write_results(
    folder: Path,
    results: Results,
    fitted: Sequence[Fitted],
    problem: Problem,
    evaluation: Evaluation,
) -> None:
    """Write the model first, the results last: who finds results finds what belongs to them."""
    table, rows = problem.table, evaluation.rows
    fitted[results["recommended"]].model.save(folder / "model")
    columns = {
        "target": table.target[rows],
        "row": table.in_file(rows),
        "weight": problem.weight(rows),
        "group": problem.groups(rows),
    }
    for number in range(len(fitted)):
        columns[f"score_{number}"] = evaluation.scores(number)
        columns[f"probability_{number}"] = evaluation.probabilities(number)
    known = {name: column for name, column in columns.items() if column is not None}
    write_npz(folder / "predictions.npz", known)
    write_parts(folder, problem.plan.parts.in_file(table))
    write_csv(folder / "tables.csv", [_row(each) for each in results["candidates"]])
    write_json(folder / "results.json", results)


def _candidate(
    number: int, each: Fitted, base: int, problem: Problem, evaluation: Evaluation
) -> CandidateResult:
    against = None
    if number != base:
        difference = evaluation.difference(number, base)
        against = _numbers(difference) | {"p": _number(difference.p)}
    return {
        "name": each.candidate.name,
        "model": each.candidate.model,
        "objective": each.candidate.objective,
        "baseline": number == base,
        "validation": _numbers(validation_of(each, problem), "mean"),
        "test": _numbers(evaluation.estimate(number)),
        "difference": against,
        "seconds": each.seconds,
        "cut_short": each.cut,
        "trials": each.trials,
        "params": each.params,
        "curve": each.curve,
    }


def _row(candidate: CandidateResult) -> dict[str, object]:
    against = candidate["difference"] or {}
    return {
        "candidate": candidate["name"],
        **{f"validation {key}": number for key, number in candidate["validation"].items()},
        **{f"test {key}": number for key, number in candidate["test"].items()},
        **{f"difference {key}": against.get(key) for key in ("value", "low", "high", "p")},
        "seconds": candidate["seconds"],
        "trials": candidate["trials"],
    }


def _numbers(found: Estimate, point: str = "value") -> Numbers:
    return {point: _number(found.mean), "low": _number(found.low), "high": _number(found.high)}


def _number(value: float) -> float | None:
    """Return a number as JSON takes it: NaN and infinity become null."""
    return value if math.isfinite(value) else None
