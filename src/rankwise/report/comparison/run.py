"""A run of ``rankwise compare``: its candidates, their results and their predictions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import AliasChoices, BeforeValidator, Field, InstanceOf
from pydantic.dataclasses import dataclass

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
