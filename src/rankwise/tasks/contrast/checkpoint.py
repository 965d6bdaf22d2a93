"""The state of a run after an epoch, on disk: whole or not at all, and never executed."""

from __future__ import annotations

import io
import json
import pickle
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import nn

from rankwise.report import write_whole
from rankwise.tasks.contrast.settings import Settings, UsageError

__all__ = ["CHECKPOINT", "load_checkpoint", "save_checkpoint"]

CHECKPOINT = "checkpoint.pt"

State = dict[str, Any]


def save_checkpoint(
    folder: Path,
    settings: Settings,
    data: str,
    history: list[dict[str, float]],
    parts: dict[str, nn.Module | torch.optim.Optimizer],
) -> None:
    """Write everything the next epoch starts from; ``data`` is the fingerprint of the images."""
    state = {
        "settings": json.dumps(asdict(settings)),
        "data": data,
        "history": history,
        "generator": torch.get_rng_state(),
        **{name: part.state_dict() for name, part in parts.items()},
    }
    buffer = io.BytesIO()
    torch.save(state, buffer)
    write_whole(folder / CHECKPOINT, buffer.getvalue())


def load_checkpoint(folder: Path, settings: Settings, data: str) -> State | None:
    """The last state of the run in a folder, None where there is none yet.

    A run of other settings or other images is not continued.
    """
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    try:
        state: State = torch.load(path, weights_only=True)
        before = json.loads(state["settings"])
    except (pickle.UnpicklingError, RuntimeError, EOFError, KeyError, ValueError) as error:
        raise UsageError(
            f"{path}: is not a checkpoint of this command ({type(error).__name__})"
        ) from None
    now = asdict(settings)
    changed = [name for name in now if now[name] != before.get(name)]
    if changed:
        differences = ", ".join(f"{n} was {before.get(n)!r} and is {now[n]!r}" for n in changed)
        raise UsageError(f"{path}: the run cannot be resumed with other settings: {differences}")
    if state["data"] != data:
        raise UsageError(f"{path}: the run cannot be resumed with other training images")
    return state
