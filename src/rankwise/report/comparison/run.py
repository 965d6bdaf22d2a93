"""The files of a run of ``rankwise compare``, read and checked."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import AliasChoices, BeforeValidator, Field, InstanceOf, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from rankwise.errors import UsageError, reason_of
from rankwise.files import read_npz
from rankwise.report.comparison.curves import Floats, Levels, levels_of
from rankwise.report.format import candidate_title


def number(value: object) -> float:
    """Return a finite number of the results as float, NaN for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return math.nan
    return float(value) if math.isfinite(value) else math.nan


def _list(value: object) -> list[object] | tuple[object, ...]:
    return value if isinstance(value, (list, tuple)) else []


def _points(value: object) -> list[tuple[float, float]]:
    pairs = [each for each in _list(value) if isinstance(each, (list, tuple)) and len(each) == 2]
    return [(number(x), number(y)) for x, y in pairs]


# Fields of JSON that is not trusted: a value of another type counts as missing.
Number = Annotated[float, BeforeValidator(number)]
Text = Annotated[str, BeforeValidator(lambda value: str(value or ""))]
Integer = Annotated[int | None, BeforeValidator(lambda v: v if isinstance(v, int) else None)]
Objects = Annotated[
    Mapping[str, object], BeforeValidator(lambda value: value if isinstance(value, dict) else {})
]
Part = Annotated[str, BeforeValidator(lambda value: str(value or "the test part"))]


@dataclass(frozen=True)
class Estimate:
    """A value with its interval; what is not known is NaN."""

    value: Number = Field(default=math.nan, validation_alias=AliasChoices("value", "mean"))
    low: Number = math.nan
    high: Number = math.nan
    p: Number = math.nan

    @property
    def has_interval(self) -> bool:
        """Whether both ends are known."""
        return not (math.isnan(self.low) or math.isnan(self.high))


Estimated = Annotated[
    Estimate, BeforeValidator(lambda value: value if isinstance(value, (dict, Estimate)) else {})
]


@dataclass(frozen=True)
class Candidate:
    """One row of the results."""

    number: int  # its place in results.json, and in the names of the predictions
    name: str
    baseline: Annotated[bool, BeforeValidator(bool)] = False
    validation: Estimated = Estimate()
    test: Estimated = Estimate()
    difference: Estimated | None = None  # against the baseline; None for the baseline itself
    # Against the average of two log-loss fits of the same model, where that was measured.
    against_control: Estimated | None = None
    seconds: Number = math.nan
    trials: Integer = None
    params: Objects = Field(default_factory=dict)
    # Seconds and the best validation value so far.
    curve: Annotated[tuple[tuple[float, float], ...], BeforeValidator(_points)] = ()

    @property
    def title(self) -> str:
        """The name in words."""
        return candidate_title(self.name)


@dataclass(frozen=True)
class Column(Estimate):
    """The importance of a column: the metric lost where its values are shuffled."""

    name: Annotated[str, BeforeValidator(str)] = ""


@dataclass(frozen=True)
class Importance:
    """Permutation importance, and the rows it was measured on."""

    columns: tuple[Column, ...]  # the most important first
    of_columns: Integer = None
    rows: Number = math.nan
    of_rows: Number = math.nan
    repeats: Number = math.nan
    part: Part = "the test part"


@dataclass(frozen=True)
class Point:
    """A threshold that a rule has chosen, with its rates on the test part."""

    rule: Text
    threshold: Number
    column: Text = "probability"
    supported: Annotated[bool, BeforeValidator(bool)] = True
    flagged: Number = math.nan
    rates: Mapping[str, Estimated] = Field(default_factory=dict)
    meaning: Text = ""


@dataclass(frozen=True)
class ClassGain(Estimate):
    """The difference of a metric of one class to the baseline, adjusted for all classes."""

    p_holm: Number = math.nan


@dataclass(frozen=True)
class OfClass:
    """One of several classes on the test part: AP and AUROC against the rest, and their gains."""

    label: Annotated[str, BeforeValidator(str), Field(validation_alias="class")]
    rows: Number = math.nan
    ap: Estimated = Estimate()
    auc: Estimated = Estimate()
    ap_base: Annotated[Estimated, Field(validation_alias="ap of the baseline")] = Estimate()
    auc_base: Annotated[Estimated, Field(validation_alias="auc of the baseline")] = Estimate()
    ap_gain: Annotated[ClassGain, Field(validation_alias="ap difference")] = ClassGain()
    auc_gain: Annotated[ClassGain, Field(validation_alias="auc difference")] = ClassGain()


class Predictions(NamedTuple):
    """The test part: targets, and the predictions of every candidate.

    Scores and probabilities of several classes have the shape (rows, classes).
    """

    target: Floats
    weight: Floats  # one everywhere if the run had none
    group: NDArray[np.int64] | None
    scores: Mapping[int, Floats]  # by the number of the candidate
    probabilities: Mapping[int, Floats]  # calibrated, where there are any


@dataclass(frozen=True)
class Run:
    """Everything the report is made from."""

    folder: Path
    candidates: tuple[Candidate, ...]
    recommended: Candidate
    config: Objects
    predictions: InstanceOf[Predictions]
    metric: Text = "metric"
    data: Objects = Field(default_factory=dict)
    why: Text = ""
    choice: Text = ""  # how it was made, in words
    left_out: Objects = Field(default_factory=dict)  # candidates that could not be trained, and why
    other_metrics: Mapping[str, list[Number]] = Field(default_factory=dict)
    columns: Annotated[tuple[Objects, ...], BeforeValidator(_list)] = ()
    verdict: Text = ""
    not_best: Text = ""  # why the recommended candidate is not the best on the test part
    decided: Annotated[bool, BeforeValidator(lambda value: value is not False)] = True
    evaluation: Part = "the test part"
    remarks: Annotated[tuple[Text, ...], BeforeValidator(_list)] = ()
    importance: Importance | None = None
    operating_point: Point | None = None
    classes: Annotated[tuple[str, ...], BeforeValidator(_list)] = ()  # where there are several
    by_class: Annotated[tuple[OfClass, ...], BeforeValidator(_list)] = ()

    @cached_property
    def baseline(self) -> Candidate | None:
        """The log-loss candidate that differences are taken to."""
        marked = [each for each in self.candidates if each.baseline]
        return next((each for each in marked if each.difference is None), next(iter(marked), None))

    @property
    def rival(self) -> Candidate | None:
        """The baseline, where it is not the recommended candidate itself."""
        return None if self.baseline is self.recommended else self.baseline

    @property
    def drawn(self) -> list[Candidate]:
        """The candidates with scores on the test part."""
        return [each for each in self.candidates if each.number in self.predictions.scores]

    @cached_property
    def levels(self) -> dict[int, Levels]:
        """The levels of the scores of every candidate, by its number."""
        given = self.predictions
        return {n: levels_of(v, given.target, given.weight) for n, v in given.scores.items()}

    @property
    def grouped(self) -> bool:
        """Whether many lists are ranked, rather than one."""
        return self.predictions.group is not None


def read_run(folder: Path) -> Run:
    """Read the run in a folder; a UsageError says in one line what is not right with it."""
    if not folder.is_dir():
        raise UsageError(f"folder must be that of a run of `rankwise compare`, got {str(folder)!r}")
    path = folder / "results.json"
    results = read_object(path)
    rows = results.get("candidates")
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise missing(path, "candidates", "a list of objects")
    candidate = TypeAdapter(Candidate)
    candidates = [
        candidate.validate_python({"name": f"candidate {place + 1}", **row, "number": place})
        for place, row in enumerate(rows)
    ]
    chosen = results.get("recommended")
    if not isinstance(chosen, int) or not 0 <= chosen < len(rows):
        raise missing(path, "recommended", f"a number from 0 to {len(rows) - 1}")
    classes = results.get("classes")
    several = len(classes) if isinstance(classes, list) else 0
    predictions = read_predictions(folder / "predictions.npz", len(rows), several)
    if chosen not in predictions.scores:
        raise missing(folder / "predictions.npz", f"score_{chosen}", "that of the recommended")
    others, importance = results.get("other_metrics"), results.get("importance")
    columns = importance.get("columns") if isinstance(importance, dict) else None
    known = {
        **results,
        "folder": folder,
        "candidates": candidates,
        "recommended": candidates[chosen],
        "config": read_object(folder / "config.json"),
        "predictions": predictions,
        "other_metrics": {
            name: values
            for name, values in (others if isinstance(others, dict) else {}).items()
            if isinstance(values, list) and len(values) == len(rows)
        },
        "importance": importance if isinstance(columns, list) and columns else None,
    }
    try:
        return TypeAdapter(Run).validate_python(known)
    except ValidationError as error:
        wrong = error.errors()[0]
        where = ".".join(map(str, wrong["loc"]))
        raise UsageError(f"{path} is not that of a run: {where}: {wrong['msg']}") from None


def missing(path: Path, key: str, wanted: str) -> UsageError:
    """Return the error of a file without what it must hold."""
    return UsageError(f"{path} must hold {key!r}, {wanted}; write it with `rankwise compare`")


def _integer(digits: str) -> int:
    """Parse an integer of JSON, which may have any length; one of a run counts something."""
    value = int(digits)
    if abs(value) >= 2**63:
        raise UsageError(f"it has an integer of {len(digits)} digits")
    return value


_REASON = 300  # letters of what a parser says


def read_object(path: Path) -> dict[str, object]:
    """Read a JSON file that holds an object."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"), parse_int=_integer)
    except FileNotFoundError:
        raise UsageError(f"{path} is missing: not a whole run of `rankwise compare`") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON of a run: {str(error)[:_REASON]}") from None
    if not isinstance(value, dict):
        raise UsageError(f"{path} must hold a JSON object, got {type(value).__name__}")
    return value


def read_predictions(path: Path, candidates: int, classes: int = 0) -> Predictions:
    """Read the arrays of a run, checked against each other; pickled objects are refused."""
    try:
        arrays = read_npz(path)
    except FileNotFoundError:
        raise UsageError(f"{path} is missing: not a whole run of `rankwise compare`") from None
    except Exception as error:  # a damaged file ends in whatever its parser stumbled over
        reason = reason_of(error.__cause__ or error)
        raise UsageError(f"{path} is not a file of plain arrays: {reason}") from None
    target = arrays.get("target")
    if target is None or target.ndim != 1 or not len(target):
        raise missing(path, "target", "one value for each row of the test part")
    n = len(target)
    for name, array in arrays.items():
        scored = name.startswith(("score_", "probability_"))
        shape = (n, classes) if scored and classes else (n,)
        if (scored or name in ("target", "weight", "group")) and array.shape != shape:
            raise UsageError(f"{path}: {name} must have the {n} rows of target, got {array.shape}")

    def column(name: str, low: float = -np.inf, high: float = np.inf, wanted: str = "") -> Floats:
        if arrays[name].dtype.kind not in "buif":
            raise UsageError(f"{path}: {name} must hold numbers, got {arrays[name].dtype}")
        floats = arrays[name].astype(np.float64)
        if np.isnan(floats).any():
            raise UsageError(f"{path}: {name} must not hold NaN")
        if len(wrong := floats[(floats < low) | (floats > high)]):
            raise UsageError(f"{path}: {name} must be {wanted}, got {wrong[0]}")
        return floats

    truth, group, weight = column("target"), arrays.get("group"), np.ones(n)
    if group is not None:
        group = np.unique(group, return_inverse=True)[1].astype(np.int64)
    elif classes:
        if not np.isin(truth, np.arange(classes)).all():
            raise UsageError(f"{path}: target must hold numbers of the {classes} classes")
    elif not np.isin(truth, (0.0, 1.0)).all() or truth.min() == truth.max():
        raise UsageError(f"{path}: target must hold zeros and ones, both of them")
    if "weight" in arrays:
        weight = column("weight", 0.0, np.finfo(np.float64).max, "finite and ≥ 0")
    if (
        group is None
        and not classes
        and not (weight[truth == 0].sum() > 0 and weight[truth == 1].sum() > 0)
    ):
        raise UsageError(f"{path}: weight must be ≥ 0, and above 0 somewhere in each class")
    names = {kind: [f"{kind}_{n}" for n in range(candidates)] for kind in ("score", "probability")}
    scores = {n: column(name) for n, name in enumerate(names["score"]) if name in arrays}
    shares = {
        n: column(name, 0.0, 1.0, "from 0 to 1")
        for n, name in enumerate(names["probability"])
        if name in arrays
    }
    return Predictions(truth, weight, group, scores, shares)
