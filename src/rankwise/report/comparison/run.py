"""The files of a run, read with suspicion: what does not fit is said in one line."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Predictions:
    """The test part: truth, and what every candidate said of it."""

    target: Floats
    weight: Floats  # one everywhere if the run had none
    group: NDArray[np.int64] | None
    scores: Mapping[int, Floats]  # by the number of the candidate
    probabilities: Mapping[int, Floats]  # calibrated, where there are any


def missing(path: Path, key: str, wanted: str) -> ValueError:
    """The error of a file without what it must hold."""
    return ValueError(f"{path} must hold {key!r}, {wanted}; write it with `rankwise compare`")


def number(value: object) -> float:
    """A number of the results, NaN for what is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return math.nan
    found = float(value)
    return found if math.isfinite(found) else math.nan


def _whole(digits: str) -> int:
    """A whole number of JSON, which may have any length; one of a run counts something."""
    value = int(digits)
    if abs(value) >= 2**63:
        raise ValueError(f"it has a whole number of {len(digits)} digits")
    return value


def read_object(path: Path) -> dict[str, Any]:
    """A file of JSON that holds an object."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"), parse_int=_whole)
    except FileNotFoundError:
        raise ValueError(f"{path} is missing: not a whole run of `rankwise compare`") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON of a run: {error}") from None
    if not isinstance(value, dict):
        raise ValueError(f"{path} must hold a JSON object, got {type(value).__name__}")
    return value


def read_predictions(path: Path, candidates: int) -> Predictions:
    """The arrays of a run, checked against each other; pickled objects are refused."""
    arrays = _arrays(path)
    target = arrays.get("target")
    if target is None or target.ndim != 1 or not len(target):
        raise missing(path, "target", "one value for each row of the test part")
    truth = _floats(path, "target", target, len(target))
    group = arrays.get("group")
    if group is not None:
        if group.shape != target.shape:
            raise _length(path, "group", group, len(target))
        group = np.unique(group, return_inverse=True)[1].astype(np.int64)
    elif not np.isin(truth, (0.0, 1.0)).all() or truth.min() == truth.max():
        raise ValueError(f"{path}: target must hold zeros and ones, both of them")
    weight = arrays.get("weight")
    weights = np.ones(len(truth)) if weight is None else _floats(path, "weight", weight, len(truth))
    _check(path, "weight", weights, (weights >= 0) & np.isfinite(weights), "finite and ≥ 0")
    for label in (0, 1) if group is None else ():
        if not weights[truth == label].sum() > 0:
            raise ValueError(f"{path}: weight must be ≥ 0, and above 0 somewhere in each class")
    columns: dict[str, dict[int, Floats]] = {"score": {}, "probability": {}}
    for kind, found in columns.items():
        for place in range(candidates):
            if (array := arrays.get(f"{kind}_{place}")) is not None:
                found[place] = _floats(path, f"{kind}_{place}", array, len(truth))
    for place, each in columns["probability"].items():
        _check(path, f"probability_{place}", each, (each >= 0) & (each <= 1), "from 0 to 1")
    return Predictions(truth, weights, group, columns["score"], columns["probability"])


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with path.open("rb") as file:
            return _members(file)
    except FileNotFoundError:
        raise ValueError(f"{path} is missing: not a whole run of `rankwise compare`") from None
    except Exception as error:  # a damaged file ends in whatever its parser stumbled over
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{path} is not a file of plain arrays: {reason}") from None


def _members(file: BinaryIO) -> dict[str, NDArray[Any]]:
    held = np.load(file, allow_pickle=False)
    if isinstance(held, np.ndarray):
        raise ValueError("it holds one array, without a name")
    with held:
        members = {name: held[name] for name in held.files}
    for name, member in members.items():
        if not isinstance(member, np.ndarray):
            raise ValueError(f"{name!r} is none")
    return members


def _floats(path: Path, name: str, array: NDArray[Any], rows: int) -> Floats:
    if array.shape != (rows,):
        raise _length(path, name, array, rows)
    if array.dtype.kind not in "buif":
        raise ValueError(f"{path}: {name} must hold numbers, got {array.dtype}")
    floats = array.astype(np.float64)
    if np.isnan(floats).any():
        raise ValueError(f"{path}: {name} must not hold NaN")
    return floats


def _check(path: Path, name: str, values: Floats, right: NDArray[np.bool_], wanted: str) -> None:
    if not right.all():
        raise ValueError(f"{path}: {name} must be {wanted}, got {values[~right][0]}")


def _length(path: Path, name: str, array: NDArray[Any], rows: int) -> ValueError:
    return ValueError(f"{path}: {name} must have the {rows} rows of target, got {array.shape}")


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
