"""Read the files of a run of ``rankwise compare``, and check them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter, ValidationError

from rankwise.errors import UsageError, reason_of
from rankwise.files import read_npz
from rankwise.report.comparison.curves import Floats
from rankwise.report.comparison.run import Candidate, Predictions, Run

_REASON = 300  # letters of what a parser says


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
    except Exception as error:  # a parser may raise anything on a damaged file
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
