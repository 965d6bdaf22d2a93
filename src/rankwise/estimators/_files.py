"""A fitted ranker in one file: a zip of JSON, arrays and text. Nothing in it is ever executed."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankwise import estimators
from rankwise.estimators._calibration import Calibrator
from rankwise.estimators.data import Loaded, State
from rankwise.estimators.preparation import Preparation
from rankwise.files import write_whole

if TYPE_CHECKING:
    from rankwise.estimators.base import Ranker

R = TypeVar("R", bound="Ranker")

_FORMAT, _VERSION = "rankwise ranker", 2
_HEADER = "ranker.json"
_NUMBERS = ("prior_", "held_out_", "threshold_", "n_features_in_")
_BROKEN = (zipfile.BadZipFile, zlib.error, KeyError, TypeError, ValueError, EOFError)


def save_ranker(ranker: Ranker, path: Path) -> Path:
    """Write a fitted ranker; the file is there whole or not at all."""
    calibrator = ranker.calibrator_
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "class": type(ranker).__name__,
        "params": _plain_params(ranker),
        "fitted": {name: getattr(ranker, name) for name in _NUMBERS},
        "calibrator": [calibrator.slope, calibrator.intercept, calibrator.share],
        "preparation": ranker.preparation_.as_json(),
    }
    parts: State = {
        "classes": _without_objects(ranker.classes_),
        "calibrator.knots": calibrator.knots,
        "calibrator.values": calibrator.values,
    }
    if hasattr(ranker, "feature_names_in_"):
        parts["feature_names"] = _without_objects(ranker.feature_names_in_)
    parts |= {f"model.{name}": part for name, part in ranker._state().items()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(_HEADER, json.dumps(header, indent=2))
        for name, part in parts.items():
            if isinstance(part, str):
                file.writestr(f"{name}.txt", part)
            else:
                array = io.BytesIO()
                np.save(array, np.asarray(part), allow_pickle=False)
                file.writestr(f"{name}.npy", array.getvalue())
    write_whole(path, buffer.getvalue())
    return path


def load_ranker(cls: type[R], path: Path) -> R:
    """Read a ranker of a class or a subclass of it."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder, not a model that Ranker.save wrote")
    try:
        with zipfile.ZipFile(path) as file:
            header: Loaded = json.loads(file.read(_HEADER))
            if header.get("format") != _FORMAT:
                raise ValueError("another format")
            parts = dict(_read(file, name) for name in file.namelist() if name != _HEADER)
        if header["version"] > _VERSION:
            raise ValueError(f"format {header['version']} is of a newer rankwise: update it")
        if header["version"] < _VERSION:
            raise ValueError(f"format {header['version']} is of an older rankwise: fit it again")
        ranker = _restored(cls, header, parts)
    except _BROKEN as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{path} is not a model that Ranker.save wrote: {why}") from None
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
        setattr(ranker, name, header["fitted"][name])
    ranker.classes_ = parts["classes"]
    if "feature_names" in parts:
        ranker.feature_names_in_ = parts["feature_names"].astype(object)
    ranker.preparation_ = Preparation.from_json(header["preparation"])
    slope, intercept, share = header["calibrator"]
    knots, values = parts["calibrator.knots"], parts["calibrator.values"]
    ranker.calibrator_ = Calibrator(slope, intercept, share, knots, values)
    model = {n.partition(".")[2]: p for n, p in parts.items() if n.startswith("model.")}
    ranker._restore(model)
    return ranker


def _read(file: zipfile.ZipFile, name: str) -> tuple[str, NDArray[np.generic] | str]:
    content, (stem, _, kind) = file.read(name), name.rpartition(".")
    if kind == "txt":
        return stem, content.decode()
    return stem, np.load(io.BytesIO(content), allow_pickle=False)


def _plain_params(ranker: Ranker) -> dict[str, object]:
    params = ranker.get_params(deep=False)
    if not isinstance(params["random_state"], (int, type(None))):
        params["random_state"] = None  # a generator that has been drawn from is of no use later
    return {
        name: value.item() if hasattr(value, "item") else value for name, value in params.items()
    }


def _without_objects(values: NDArray[np.generic]) -> NDArray[np.generic]:
    return values.astype(str) if values.dtype == object else values
