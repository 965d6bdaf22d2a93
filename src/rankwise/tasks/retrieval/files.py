"""What a run leaves in its folder, and the network that comes back from there."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from rankwise.data.images._listing import Recorded
from rankwise.errors import UsageError
from rankwise.extras import require
from rankwise.report import write_csv, write_json, write_whole
from rankwise.retrieval import RetrievalResult
from rankwise.tasks.retrieval.evaluate import as_json
from rankwise.tasks.retrieval.network import EmbeddingNet, make_network
from rankwise.tasks.retrieval.settings import Network, Settings
from rankwise.training import require_unchanged
from rankwise.vision.backbones import TransformersBackbone

__all__ = [
    "CONFIG",
    "DIVISION",
    "MODEL",
    "load_run",
    "read_division",
    "safetensors_error",
    "safetensors_library",
    "write_config",
    "write_division",
    "write_model",
    "write_results",
]

CONFIG, MODEL, DIVISION = "config.yaml", "model.safetensors", "division.csv"
_BACKBONE = "backbone"

Results = dict[str, dict[str, RetrievalResult]]


def write_config(out: Path, settings: Settings) -> None:
    """``config.yaml``: the settings of the run, all of them."""
    write_whole(out / CONFIG, settings.as_yaml())


def write_division(out: Path, record: Sequence[Recorded]) -> None:
    """``division.csv``: the part of every image, for data that can change under a run."""
    if record:
        write_csv(out / DIVISION, [one._asdict() for one in record])


def read_division(out: Path) -> tuple[Recorded, ...] | None:
    """Read the division that a run was trained on; None where it kept none."""
    file = out / DIVISION
    if not file.is_file():
        return None
    try:
        with file.open(encoding="utf-8", newline="") as text:
            rows = [Recorded(**cast(Any, row)) for row in csv.DictReader(text, strict=True)]
    except (OSError, UnicodeDecodeError, csv.Error, TypeError) as error:
        raise UsageError(f"{file}: is not the division of a run: {error}") from None
    if not rows or not {row.part for row in rows} <= {"train", "validation", "test"}:
        raise UsageError(
            f"{file}: is not the division of a run: it must have rows of path, label and part, "
            "which is train, validation or test"
        )
    return tuple(rows)


def write_model(out: Path, network: EmbeddingNet) -> None:
    """``model.safetensors``: weights, and mean and deviation of the pixels.

    Beside it the architecture of a network of transformers, in ``backbone/config.json``.
    """
    if isinstance(network.backbone, TransformersBackbone):
        config: Any = network.backbone.model.config
        write_whole(out / _BACKBONE / "config.json", config.to_json_string())
    write_whole(out / MODEL, safetensors_library().save(_state(network)))


def write_results(out: Path, results: Results) -> None:
    """``results.json``: by network, then by gallery."""
    found = {
        name: {gallery: as_json(result) for gallery, result in by_gallery.items()}
        for name, by_gallery in results.items()
    }
    write_json(out / "results.json", found)


def load_run(out: Path) -> tuple[Settings, EmbeddingNet]:
    """The settings and the network of a finished run, in the mode of evaluation."""
    for name in (CONFIG, MODEL):
        if not (out / name).is_file():
            raise UsageError(f"{out} is not the folder of a finished run: there is no {name}")
    require_unchanged(out, MODEL)
    settings = Settings.read(out / CONFIG)
    # All weights are in the folder: those it started from may be gone.
    network = make_network(_from_scratch(settings.network, out))
    try:
        network.load_state_dict(safetensors_library().load_file(out / MODEL))
    except (RuntimeError, safetensors_error()) as error:
        first = str(error).strip().splitlines()[0]
        raise UsageError(f"{out / MODEL}: does not go with {CONFIG}: {first}") from None
    return settings, network.eval()


def _from_scratch(chosen: Network, out: Path) -> Network:
    """The same architecture without the weights it started from."""
    kept = out / _BACKBONE
    weights = str(kept) if kept.is_dir() and chosen.weights is not None else None
    return chosen.replace(weights=weights)


def _state(network: EmbeddingNet) -> dict[str, Any]:
    return {name: value.contiguous().cpu() for name, value in network.state_dict().items()}


def safetensors_library() -> Any:
    """The library of the weights' format."""
    require("rankwise.tasks.retrieval", "safetensors")
    from safetensors import torch as module  # noqa: PLC0415

    return module


def safetensors_error() -> type[Exception]:
    """What that library raises on a file that is none of its own."""
    from safetensors import SafetensorError  # noqa: PLC0415

    error: type[Exception] = SafetensorError
    return error
