"""What a run leaves in its folder, and the detector that comes back from there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankwise.errors import UsageError
from rankwise.report import write_json, write_whole
from rankwise.tasks.detection.features import TransformersFeatures
from rankwise.tasks.detection.network import Detector, make_detector
from rankwise.tasks.detection.settings import Settings
from rankwise.tasks.retrieval import files as retrieval
from rankwise.training import require_unchanged

__all__ = ["CONFIG", "MODEL", "Kept", "load_run", "write_config", "write_model"]

CONFIG, MODEL, NAMES = "config.yaml", "model.safetensors", "classes.json"
_BACKBONE = "backbone"


@dataclass(frozen=True)
class Kept:
    """A finished run: the detector, the names of its classes, and from which logits on to draw."""

    settings: Settings
    network: Detector
    classes: tuple[str, ...]
    thresholds: tuple[float, ...]


def write_config(out: Path, settings: Settings) -> None:
    """``config.yaml``: the settings of the run, all of them."""
    write_whole(out / CONFIG, settings.as_yaml())


def write_model(
    out: Path, network: Detector, classes: tuple[str, ...], thresholds: list[float]
) -> None:
    """``model.safetensors``, and in ``classes.json`` the names and their thresholds.

    Beside them the architecture of a backbone of transformers, in ``backbone/config.json``.
    """
    if isinstance(network.features, TransformersFeatures):
        config: Any = network.features.model.config
        write_whole(out / _BACKBONE / "config.json", config.to_json_string())
    state = {name: value.contiguous().cpu() for name, value in network.state_dict().items()}
    write_json(out / NAMES, {"classes": list(classes), "thresholds": thresholds})
    write_whole(out / MODEL, retrieval.safetensors_library().save(state))


def load_run(out: Path) -> Kept:
    """The detector of a finished run, in the mode of evaluation."""
    for name in (CONFIG, NAMES, MODEL):
        if not (out / name).is_file():
            raise UsageError(f"{out} is not the folder of a finished run: there is no {name}")
    require_unchanged(out, MODEL)
    settings = Settings.read(out / CONFIG)
    try:
        known = json.loads((out / NAMES).read_text())
        classes = tuple(map(str, known["classes"]))
        thresholds = tuple(map(float, known["thresholds"]))
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{out / NAMES}: does not have classes and thresholds") from None
    if len(classes) != len(thresholds):
        raise UsageError(
            f"{out / NAMES}: must have a threshold for each of its {len(classes)} classes, "
            f"got {len(thresholds)}"
        )
    # All weights are in the folder: those it started from may be gone.
    folder = out / _BACKBONE
    weights = str(folder) if folder.is_dir() else None
    network = make_detector(settings.network.replace(weights=weights), len(classes))
    library = retrieval.safetensors_library()
    try:
        network.load_state_dict(library.load((out / MODEL).read_bytes()))
    except (RuntimeError, retrieval.safetensors_error()) as error:
        first = str(error).strip().splitlines()[0]
        raise UsageError(f"{out / MODEL}: does not go with {CONFIG}: {first}") from None
    return Kept(settings, network.eval(), classes, thresholds)
