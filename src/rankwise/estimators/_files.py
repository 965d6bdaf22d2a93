"""A fitted ranker in one file, and the progress of a training. Nothing in them is ever executed.

The file of a ranker is a zip of JSON, arrays and text. Both have their SHA-256 in them, which is
verified before anything is read.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from rankwise import estimators
from rankwise.boosting.disk import DiskMatrix
from rankwise.errors import UsageError, foreign_errors, short_repr
from rankwise.estimators._classes import ClassCalibrator
from rankwise.estimators.data import Loaded, Part, State
from rankwise.estimators.preparation import Preparation
from rankwise.files import parse_json, write_whole
from rankwise.metrics import OperatingPoint
from rankwise.naming.registry import OBJECT
from rankwise.seals import require_seal, sealed_zip
from rankwise.serving.calibration import Calibrator
from rankwise.serving.files import RANKER, RANKER_HEADER, RANKER_VERSION, read_ranker
from rankwise.states import state_bytes

if TYPE_CHECKING:
    from rankwise.estimators.base import Ranker

R = TypeVar("R", bound="Ranker")

_NUMBERS = ("prior_", "held_out_", "threshold_", "n_features_in_")


def save_ranker(ranker: Ranker, path: Path) -> Path:
    """Write a fitted ranker; the file is there whole or not at all."""
    params = ranker.get_params(deep=False)
    if not isinstance(params["random_state"], (int, type(None))):
        params["random_state"] = None  # a generator that has been drawn from is of no use later
    if not isinstance(ranker.objective, str):
        # Scores need no objective; with its metric the model can still be evaluated.
        params["objective"] = f"{type(ranker.objective).__name__}{OBJECT}"
        params["metric"] = ranker._metric_name
    point = ranker.operating_point_
    header = {
        "format": RANKER,
        "version": RANKER_VERSION,
        "class": type(ranker).__name__,
        "params": {n: v.item() if hasattr(v, "item") else v for n, v in params.items()},
        "fitted": {name: _plain(getattr(ranker, name)) for name in _NUMBERS},
        "calibrator": [],
        "operating_point": point and asdict(point),
        "preparation": ranker.preparation_.as_json(),
    }
    parts: State = {"classes": _without_objects(ranker.classes_)}
    header["calibrator"] = _calibration(ranker.calibrator_, parts)
    if hasattr(ranker, "feature_names_in_"):
        parts["feature_names"] = _without_objects(ranker.feature_names_in_)
    parts |= {f"model.{name}": part for name, part in ranker._state().items()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        _add(file, RANKER_HEADER, json.dumps(header, indent=2).encode())
        for name, part in parts.items():
            if isinstance(part, str):
                _add(file, f"{name}.txt", part.encode())
            else:
                entry = io.BytesIO()
                np.save(entry, np.asarray(part), allow_pickle=False)
                _add(file, f"{name}.npy", entry.getvalue())
    return write_whole(path, sealed_zip(buffer.getvalue()))


def _add(file: zipfile.ZipFile, name: str, content: bytes) -> None:
    # A new ZipInfo has the first date that zip knows: equal rankers make equal files.
    file.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def load_ranker(cls: type[R], path: Path) -> R:
    """Read a ranker of a class or a subclass of it."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder, not a model that Ranker.save wrote")
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such model")
    with foreign_errors(f"{path} is not a model that Ranker.save wrote", ours_too=True):
        ranker = _restored(cls, *read_ranker(path))
    if not isinstance(ranker, cls):
        raise ValueError(
            f"{path} holds a {type(ranker).__name__}, not a {cls.__name__}; read it with "
            f"{type(ranker).__name__}.load or Ranker.load"
        )
    return ranker


def _restored(cls: type[R], header: Loaded, parts: Loaded) -> Ranker:
    name, params = header["class"], header["params"].items()
    found = cls if cls.__name__ == name else getattr(estimators, name, None)
    if not (isinstance(found, type) and issubclass(found, estimators.Ranker)):
        raise ValueError(f"no ranker is called {name!r}")
    options: Loaded = {name: tuple(v) if isinstance(v, list) else v for name, v in params}
    ranker = found(**options)
    for name in _NUMBERS:
        value = header["fitted"][name]
        setattr(ranker, name, np.array(value) if isinstance(value, list) else value)
    point = header.get("operating_point")
    if point is not None:
        point = OperatingPoint(**{**point, "sizes": tuple(point["sizes"])})
    ranker.operating_point_ = point
    ranker.classes_ = parts["classes"]
    if "feature_names" in parts:
        ranker.feature_names_in_ = parts["feature_names"].astype(object)
    ranker.preparation_ = Preparation.from_json(header["preparation"])
    ranker.calibrator_ = _calibrator(header["calibrator"], parts)
    model = {n.partition(".")[2]: p for n, p in parts.items() if n.startswith("model.")}
    ranker._restore(model)
    return ranker


def _plain(value: object) -> object:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _calibration(
    given: Calibrator | ClassCalibrator, parts: State
) -> list[float] | list[list[float]]:
    """Return the numbers of a calibration, and add its lines to the parts of a file."""
    several = given.parts if isinstance(given, ClassCalibrator) else (given,)
    for place, each in enumerate(several):
        name = _calibrator_name(place, several=len(several) > 1)
        parts |= {f"{name}.knots": each.knots, f"{name}.values": each.values}
    found = [[each.slope, each.intercept, each.share] for each in several]
    return found if len(found) > 1 else found[0]


def _calibrator(numbers: Any, parts: Loaded) -> Calibrator | ClassCalibrator:
    several = isinstance(numbers[0], list)
    found = []
    for place, (slope, intercept, share) in enumerate(numbers if several else [numbers]):
        name = _calibrator_name(place, several=several)
        lines = (parts[f"{name}.knots"], parts[f"{name}.values"])
        found.append(Calibrator(slope, intercept, share, *lines))
    return ClassCalibrator(tuple(found)) if several else found[0]


def _calibrator_name(place: int, *, several: bool) -> str:
    return f"calibrator.{place}" if several else "calibrator"


def _without_objects(values: NDArray[np.generic]) -> NDArray[np.generic]:
    return values.astype(str) if values.dtype == object else values


class Checkpoint:
    """The last state of one training in ``path``.

    ``asked`` is everything that decides the result, as plain values; a file that was written for
    something else is refused and not continued.
    """

    def __init__(self, path: Path, asked: Mapping[str, object]) -> None:
        self.path = path
        self.asked: Loaded = json.loads(json.dumps(asked, default=str))
        self._saved = False

    def save(self, state: Mapping[str, object]) -> None:
        """Write tensors, numbers and text."""
        if self._saved and not self.path.parent.is_dir():
            raise UsageError(
                f"{self.path.parent} was removed while the training was writing into it; start the "
                "training again"
            )
        self._saved = True
        write_whole(self.path, state_bytes({"asked": json.dumps(self.asked), "state": state}))

    def load(self) -> Loaded | None:
        """Return the last saved state; None where nothing was saved."""
        if not self.path.exists():
            return None
        with foreign_errors(f"{self.path}: is not the checkpoint of a ranker"):
            content = self.path.read_bytes()
            require_seal(content)
            found = torch.load(io.BytesIO(content), weights_only=True)
            before, state = dict(parse_json(found["asked"])), dict(found["state"])
        changed = [
            "other data"
            if name == "data"
            else f"{name} was {short_repr(before.get(name))} and is {short_repr(now)}"
            for name, now in self.asked.items()
            if now != before.get(name)
        ]
        if changed:
            words = ", ".join(changed)
            raise UsageError(
                f"{self.path}: the training cannot be resumed: {words}; repeat it as it was, or "
                "use another checkpoint"
            )
        return state


def fingerprint(*parts: Part) -> str:
    """Return a hash of the rows, targets, weights and lists of all parts."""
    found = hashlib.sha256()
    for part in parts:
        X = part.X
        rows: tuple[NDArray[np.generic], ...]
        if isinstance(X, DiskMatrix):
            rows = ()
            for block in X.blocks():
                found.update(block.data)
        else:
            rows = (X,) if isinstance(X, np.ndarray) else (X.data, X.indices, X.indptr)
        for array in (*rows, part.target, part.weight, part.groups):
            found.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
            found.update(str(None if array is None else array.shape).encode())
    return found.hexdigest()
