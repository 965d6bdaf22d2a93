"""The state of a run after an epoch, on disk: whole or not at all, and never executed."""

from __future__ import annotations

import io
import json
import pickle
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from rankwise.report import write_whole
from rankwise.tasks.recommendation.settings import Settings, UsageError

__all__ = ["CHECKPOINT", "load_checkpoint", "save_checkpoint"]

CHECKPOINT = "checkpoint.pt"

State = dict[str, Any]


def save_checkpoint(folder: Path, settings: Settings, data: str, state: Mapping[str, Any]) -> None:
    """Write everything the next epoch starts from; ``data`` is the fingerprint of what is learnt.

    Torch's own generator is a part of it.
    """
    buffer = io.BytesIO()
    known = {"settings": json.dumps(asdict(settings)), "data": data}
    torch.save({**state, **known, "generator": torch.get_rng_state()}, buffer)
    write_whole(folder / CHECKPOINT, buffer.getvalue())


def load_checkpoint(folder: Path, settings: Settings, data: str) -> State | None:
    """The last state of the run in a folder, None where there is none yet.

    A run of other settings or other interactions is not continued.
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
    now = json.loads(json.dumps(asdict(settings)))
    changed = [name for name in now if now[name] != before.get(name)]
    if changed:
        differences = ", ".join(f"{n} was {before.get(n)!r} and is {now[n]!r}" for n in changed)
        raise UsageError(f"{path}: the run cannot be resumed with other settings: {differences}")
    if state["data"] != data:
        raise UsageError(f"{path}: the run cannot be resumed with other data")
    return state
