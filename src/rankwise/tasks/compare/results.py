"""The files of a run: results, predictions, the recommended model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rankwise.report import write_csv, write_json
from rankwise.report.files import write_arrays
from rankwise.tasks.compare.fit import Finished
from rankwise.tasks.compare.metrics import every_metric, takes_weights
from rankwise.tasks.compare.parts import write_parts
from rankwise.tasks.compare.problem import Problem
from rankwise.tasks.compare.selection import Choice, Evaluation, validation_of


def results_of(
    finished: Sequence[Finished],
    choice: Choice,
    problem: Problem,
    left_out: Mapping[str, str],
    evaluation: Evaluation,
) -> dict[str, Any]:
    """Everything that was found. The tested rows are looked at here, once, after the choice."""
    table, parts = problem.table, problem.plan.parts
    base = finished[choice.baseline]
    grouped = table.groups is not None
    names = every_metric(len(evaluation.rows), grouped=grouped, graded=table.graded)
    others = {
        name: [_number(evaluation.value(number, name)) for number in range(len(finished))]
        for name in names
        if name != problem.metric and takes_weights(name, table.weight)
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
            **_left_out_rows(problem),
            **_periods(problem),
        },
        "columns": [asdict(column) for column in table.columns],
        "evaluation": evaluation.words,
        "choice": problem.plan.words(len(base.judged)),
        "candidates": [
            _candidate(number, finished, choice.baseline, problem, evaluation)
            for number in range(len(finished))
        ],
        "recommended": choice.recommended,
        "why": choice.why,
        "left_out": dict(left_out),
        "other_metrics": others,
    }


def write_results(
    folder: Path,
    results: Mapping[str, Any],
    finished: Sequence[Finished],
    problem: Problem,
    evaluation: Evaluation,
) -> None:
    """The model first, the results last: who finds results finds what belongs to them."""
    table, rows = problem.table, evaluation.rows
    finished[results["recommended"]].model.save(folder / "model")
    arrays = {"target": table.target[rows], "row": table.in_file(rows)}
    weight = problem.weight(rows)
    if weight is not None:
        arrays["weight"] = weight
    groups = problem.groups(rows)
    if groups is not None:
        arrays["group"] = groups
    for number in range(len(finished)):
        arrays[f"score_{number}"] = evaluation.scores(number)
        arrays[f"probability_{number}"] = evaluation.probabilities(number)
    write_arrays(folder / "predictions.npz", arrays)
    write_parts(folder, problem.plan.parts.in_file(table))
    write_csv(folder / "tables.csv", [_row(each) for each in results["candidates"]])
    write_json(folder / "results.json", results)


def _left_out_rows(problem: Problem) -> dict[str, int]:
    table = problem.table
    found = {
        "rows_without_target": table.without_target,
        "rows_of_weight_0": table.without_weight,
    }
    return {name: count for name, count in found.items() if count}


def _periods(problem: Problem) -> dict[str, dict[str, str]]:
    """From when to when each part goes, where there is a time column."""
    found = problem.plan.parts.periods(problem.table)
    return {"periods": found} if found else {}


def _candidate(
    number: int,
    finished: Sequence[Finished],
    base: int,
    problem: Problem,
    evaluation: Evaluation,
) -> dict[str, Any]:
    each = finished[number]
    chosen, test = validation_of(each, problem), evaluation.estimate(number)
    against = None
    if number != base:
        found = evaluation.difference(number, base)
        against = _numbers(value=found.mean, low=found.low, high=found.high, p=found.p)
    return {
        "name": each.candidate.name,
        "model": each.candidate.model,
        "objective": each.candidate.objective,
        "baseline": number == base,
        "validation": _numbers(mean=chosen.mean, low=chosen.low, high=chosen.high),
        "test": _numbers(value=test.mean, low=test.low, high=test.high),
        "difference": against,
        "seconds": each.seconds,
        "cut_short": each.cut,
        "trials": each.trials,
        "params": each.params,
        "curve": each.curve,
    }


def _row(candidate: Mapping[str, Any]) -> dict[str, object]:
    against = candidate["difference"] or {}
    return {
        "candidate": candidate["name"],
        **{f"validation {key}": number for key, number in candidate["validation"].items()},
        **{f"test {key}": number for key, number in candidate["test"].items()},
        **{f"difference {key}": against.get(key) for key in ("value", "low", "high", "p")},
        "seconds": candidate["seconds"],
        "trials": candidate["trials"],
    }


def _numbers(**values: float) -> dict[str, float | None]:
    return {name: _number(value) for name, value in values.items()}


def _number(value: float) -> float | None:
    """JSON has no word for what is not a number."""
    return value if math.isfinite(value) else None
