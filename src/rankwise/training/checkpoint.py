"""The state of a training in its run folder: whole, verified before use, never executed."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from typing import TypeVar

import torch

from rankwise.errors import UsageError, foreign_errors
from rankwise.states import state_bytes
from rankwise.training.run_folder import RunFolder
from rankwise.training.task import StateDict, Task

CHECKPOINT = "checkpoint.pt"
"""Name of the checkpoint in a run folder."""
_FORMAT = 1

Batch = TypeVar("Batch")


def save_checkpoint(folder: RunFolder, task: Task[Batch], state: StateDict) -> None:
    """Write a state, and what must be the same for the run to be resumed from it."""
    folder.write(CHECKPOINT, state_bytes({**_terms(task), **state}))


def load_checkpoint(folder: RunFolder, task: Task[Batch]) -> StateDict | None:
    """Return the last state of a run; None where there is none yet.

    A run of other settings, data or processes is refused, as is a damaged file.
    """
    data, path = folder.read(CHECKPOINT), folder.path / CHECKPOINT
    if data is None:
        return None
    now = _terms(task)
    try:
        with foreign_errors(""):
            state: StateDict = torch.load(io.BytesIO(data), weights_only=True, map_location="cpu")
            before = {name: state[name] for name in now}
            settings = dict(json.loads(before["settings"]))
    except UsageError as error:
        raise UsageError(
            f"{path}: is not a checkpoint of this command ({type(error.__cause__).__name__}); "
            "pass another folder with --out"
        ) from None
    was = dict(flat_settings(settings))
    changed = [
        f"{name} was {was.get(name)!r} and is {value!r}"
        for name, value in flat_settings(json.loads(now["settings"]))
        if name not in was or was[name] != value
    ]
    if changed:
        raise UsageError(
            f"{path}: the run cannot be resumed with other settings: {', '.join(changed)}"
        )
    if before["data"] != now["data"]:
        raise UsageError(
            f"{path}: the run cannot be resumed with other training data"
            f"{_changed_data(before['data'], now['data'])}"
        )
    for name in ("format", "world_size", "joined_batch"):
        if before[name] != now[name]:
            raise UsageError(
                f"{path}: the run cannot be resumed with another {name.replace('_', ' ')}: "
                f"it was {before[name]} and is {now[name]}; resume it as it was started, or pass "
                "another folder with --out"
            )
    return state


def _changed_data(before: str, now: str) -> str:
    """Say which parts of a fingerprint of ``name=digest`` words have changed, if it is of those."""
    known = dict(word.split("=", 1) for word in before.split() if "=" in word)
    found = dict(word.split("=", 1) for word in now.split() if "=" in word)
    changed = [name for name in found if found[name] != known.get(name)]
    if not changed:
        return ""
    return (
        f": the {' and '.join(changed)} of its images are not those it was started with; restore "
        "them, or start the run in another folder with --out"
    )


def _terms(task: Task[Batch]) -> StateDict:
    world = task.place.world_size
    return {
        "format": _FORMAT,
        "settings": json.dumps(task.record.settings),
        "data": task.record.data,
        "world_size": world,
        "joined_batch": world * task.options.accumulate * task.record.batch,
    }


def flat_settings(tree: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    """Yield settings by dotted names; tables inside a section are values."""
    for name, value in tree.items():
        if isinstance(value, Mapping) and not above:
            yield from flat_settings(value, f"{name}.")
        else:
            yield f"{above}{name}", value
