"""The progress of a training in a file that is written whole and never executed."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from rankwise.estimators.data import Loaded, Part
from rankwise.files import write_whole

_BROKEN = (pickle.UnpicklingError, RuntimeError, EOFError, KeyError, TypeError, ValueError)


class Checkpoint:
    """The last state of one training in ``path``.

    ``asked`` is everything that decides the result, as plain values; a file that was written for
    something else is refused and not continued.
    """

    def __init__(self, path: Path, asked: Mapping[str, object]) -> None:
        self.path = path
        self.asked: Loaded = json.loads(json.dumps(asked, default=str))

    def save(self, state: Mapping[str, object]) -> None:
        """Write tensors, numbers and text."""
        buffer = io.BytesIO()
        torch.save({"asked": json.dumps(self.asked), "state": dict(state)}, buffer)
        write_whole(self.path, buffer.getvalue())

    def load(self) -> Loaded | None:
        """Return the last saved state; None where nothing was saved."""
        if not self.path.exists():
            return None
        try:
            found = torch.load(self.path, weights_only=True)
            before, state = json.loads(found["asked"]), dict(found["state"])
        except _BROKEN as error:
            raise ValueError(
                f"{self.path}: is not the checkpoint of a ranker ({type(error).__name__})"
            ) from None
        changed = [name for name in self.asked if self.asked[name] != before.get(name)]
        if changed:
            words = ", ".join(
                "other data"
                if name == "data"
                else f"{name} was {before.get(name)!r} and is {self.asked[name]!r}"
                for name in changed
            )
            raise ValueError(f"{self.path}: this training cannot be continued: {words}")
        return state


def fingerprint(*parts: Part) -> str:
    """Return a hash of the rows, targets, weights and lists of all parts."""
    found = hashlib.sha256()
    for part in parts:
        X = part.X
        rows = (X,) if isinstance(X, np.ndarray) else (X.data, X.indices, X.indptr)
        for array in (*rows, part.target, part.weight, part.groups):
            found.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
            found.update(str(None if array is None else array.shape).encode())
    return found.hexdigest()
