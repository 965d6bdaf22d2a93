"""The files of a run, read with suspicion: what does not fit is said in one line."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

__all__ = ["Predictions", "missing", "number", "read_object", "read_predictions"]

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
