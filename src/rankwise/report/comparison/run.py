"""A run of ``rankwise compare`` as its folder holds it, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwise.report.comparison.reading import (
    Predictions,
    missing,
    number,
    read_object,
    read_predictions,
)

__all__ = ["Candidate", "Estimate", "Importance", "Run", "read_run"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A value with its interval; what is not known is NaN."""

    value: float
    low: float
    high: float
    p: float = float("nan")

    @property
    def has_interval(self) -> bool:
        """Whether both ends are known."""
        return not (math.isnan(self.low) or math.isnan(self.high))


@dataclass(frozen=True)
class Candidate:
    """One row of the results."""

    number: int  # its place in results.json, and in the names of the predictions
    name: str
    baseline: bool
    validation: Estimate
    test: Estimate
    difference: Estimate | None  # against the baseline; None for the baseline itself
    seconds: float
    trials: int | None
    params: Mapping[str, Any]
    curve: tuple[tuple[float, float], ...]  # seconds, best validation value so far


@dataclass(frozen=True)
class Importance:
    """What the metric loses where a column is shuffled, and what that was measured on."""

    columns: tuple[tuple[str, Estimate], ...]  # the most important first
    of_columns: int
    rows: float
    of_rows: float
    repeats: float
    part: str


@dataclass(frozen=True)
class Run:
    """Everything the page is made from."""

    folder: Path
    metric: str
    data: Mapping[str, Any]
    candidates: tuple[Candidate, ...]
    recommended: Candidate
    why: str
    choice: str  # how it was made, in words
    left_out: Mapping[str, Any]  # candidates that could not be trained, and why
    other_metrics: Mapping[str, list[Any]]
    config: Mapping[str, Any]
    predictions: Predictions
    columns: tuple[Mapping[str, Any], ...] = ()  # of the data, with what each was taken for
    verdict: str = ""
    decided: bool = True  # whether there were enough positives to tell candidates apart
    evaluation: str = "the test part"  # what it was tested on, in words
    notes: tuple[str, ...] = ()
    importance: Importance | None = None

    @cached_property
    def baseline(self) -> Candidate | None:
        """The log-loss candidate that differences are taken to."""
        marked = [each for each in self.candidates if each.baseline]
        return next((each for each in marked if each.difference is None), next(iter(marked), None))

    @property
    def drawn(self) -> list[Candidate]:
        """The candidates with scores on the test part."""
        return [each for each in self.candidates if each.number in self.predictions.scores]

    @property
    def grouped(self) -> bool:
        """Whether many lists are ranked, rather than one."""
        return self.predictions.group is not None


def read_run(folder: Path) -> Run:
    """The run in a folder; a ValueError says in one line what is not right with it."""
    if not folder.is_dir():
        raise ValueError(f"folder must be that of a run of `rankwise compare`, got {str(folder)!r}")
    results = read_object(folder / "results.json")
    rows = results.get("candidates")
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise missing(folder / "results.json", "candidates", "a list of objects")
    candidates = tuple(_candidate(place, row) for place, row in enumerate(rows))
    chosen = results.get("recommended")
    if not isinstance(chosen, int) or not 0 <= chosen < len(rows):
        wanted = f"a number from 0 to {len(rows) - 1}"
        raise missing(folder / "results.json", "recommended", wanted)
    predictions = read_predictions(folder / "predictions.npz", len(rows))
    if chosen not in predictions.scores:
        raise missing(folder / "predictions.npz", f"score_{chosen}", "that of the recommended")
    return Run(
        folder=folder,
        metric=str(results.get("metric", "metric")),
        data=_mapping(results.get("data")),
        candidates=candidates,
        recommended=candidates[chosen],
        why=str(results.get("why") or ""),
        choice=str(results.get("choice") or ""),
        left_out=_mapping(results.get("left_out")),
        other_metrics={
            str(name): values
            for name, values in _mapping(results.get("other_metrics")).items()
            if isinstance(values, list) and len(values) == len(rows)
        },
        columns=tuple(map(_mapping, _list(results.get("columns")))),
        config=read_object(folder / "config.json"),
        predictions=predictions,
        verdict=str(results.get("verdict") or ""),
        decided=results.get("decided") is not False,
        evaluation=str(results.get("evaluation") or "the test part"),
        notes=tuple(str(each) for each in _list(results.get("notes"))),
        importance=_importance(results.get("importance")),
    )


def _candidate(place: int, row: Mapping[str, Any]) -> Candidate:
    trials = row.get("trials")
    points = row.get("curve") or []
    return Candidate(
        number=place,
        name=str(row.get("name", f"candidate {place + 1}")),
        baseline=bool(row.get("baseline")),
        validation=_estimate(row.get("validation"), "mean"),
        test=_estimate(row.get("test"), "value"),
        difference=None if row.get("difference") is None else _estimate(row["difference"], "value"),
        seconds=number(row.get("seconds")),
        trials=trials if isinstance(trials, int) else None,
        params=_mapping(row.get("params")),
        curve=tuple(
            (number(point[0]), number(point[1]))
            for point in points
            if isinstance(point, list) and len(point) == 2
        ),
    )


def _importance(value: object) -> Importance | None:
    known = _mapping(value)
    columns = [_mapping(each) for each in _list(known.get("columns"))]
    if not columns:
        return None
    of_columns = known.get("of_columns")
    return Importance(
        columns=tuple((str(each.get("name")), _estimate(each, "mean")) for each in columns),
        of_columns=of_columns if isinstance(of_columns, int) else len(columns),
        rows=number(known.get("rows")),
        of_rows=number(known.get("of_rows")),
        repeats=number(known.get("repeats")),
        part=str(known.get("part") or "the test part"),
    )


def _estimate(value: object, point: str) -> Estimate:
    known = _mapping(value)
    return Estimate(*(number(known.get(key)) for key in (point, "low", "high", "p")))


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
