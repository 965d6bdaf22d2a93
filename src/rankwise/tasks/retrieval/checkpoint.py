"""The state of a run after a validation, on disk: whole or not at all, and never executed."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from rankwise.data.images import ImageSet
from rankwise.report import write_whole
from rankwise.tasks.retrieval.settings import UsageError

__all__ = ["CHECKPOINT", "fingerprint", "load_checkpoint", "save_checkpoint"]

CHECKPOINT = "checkpoint.pt"

State = dict[str, Any]


def fingerprint(images: ImageSet) -> str:
    """A word that changes when the training images do, or their order."""
    seen = hashlib.sha256(images.labels.numpy().tobytes())
    if images.pixels is not None:
        seen.update(images.pixels.contiguous().numpy().tobytes())
    for path in images.paths or ():
        seen.update(path.name.encode())  # the folder may have been moved
    return seen.hexdigest()[:16]


def save_checkpoint(folder: Path, settings: Any, data: str, state: State) -> None:
    """Write everything the next step starts from; ``data`` is the fingerprint of the images.

    ``settings`` are those of any task: a record of records.
    """
    buffer = io.BytesIO()
    torch.save({"settings": _words(settings), "data": data, **state}, buffer)
    write_whole(folder / CHECKPOINT, buffer.getvalue())


def load_checkpoint(folder: Path, settings: Any, data: str) -> State | None:
    """The last state of the run in a folder, None where there is none yet.

    A run of other settings or other images is not continued; data may have been moved.
    """
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    try:
        state: State = torch.load(path, weights_only=True, map_location="cpu")
        before = json.loads(state["settings"])
    except (pickle.UnpicklingError, RuntimeError, EOFError, KeyError, ValueError) as error:
        raise UsageError(
            f"{path}: is not a checkpoint of this command ({type(error).__name__})"
        ) from None
    changed = []
    for section, values in json.loads(_words(settings)).items():
        for name, value in values.items():
            earlier = before.get(section, {}).get(name)
            if value != earlier and (section, name) != ("data", "root"):
                changed.append(f"{section}.{name} was {earlier!r} and is {value!r}")
    if changed:
        raise UsageError(
            f"{path}: the run cannot be resumed with other settings: {', '.join(changed)}"
        )
    if state["data"] != data:
        raise UsageError(f"{path}: the run cannot be resumed with other training images")
    return state


def _words(settings: Any) -> str:
    return json.dumps(asdict(settings))
