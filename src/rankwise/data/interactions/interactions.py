"""Interactions as numbers: who, what, how good, when."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwise.data.errors import DataError

__all__ = ["Interactions", "codes_of"]

_SHOWN = 5  # unknown ids that a message lists


@dataclass(frozen=True, eq=False)
class Interactions:
    """The rows of a file of interactions; every (user, item) pair is there once."""

    path: Path
    user: NDArray[np.int64]  # a number below len(users), for every row
    item: NDArray[np.int64]
    value: NDArray[np.float64]  # the rating; 1 where the file has none
    time: NDArray[np.float64] | None
    users: tuple[str, ...]  # the id of every user as the file has it
    items: tuple[str, ...]
    replaced: int = 0  # rows left out because the same pair came again later

    def __len__(self) -> int:
        return len(self.user)

    def positive(self, threshold: float | None) -> NDArray[np.bool_]:
        """Which rows are positives: values from ``threshold`` on; None: all that is there."""
        if threshold is None:
            return np.ones(len(self), dtype=bool)
        return self.value >= threshold

    def fingerprint(self) -> str:
        """A word that changes when the interactions do."""
        found = hashlib.sha256("\n".join((*self.users, "", *self.items)).encode())
        for part in (self.user, self.item, self.value, self.time):
            if part is not None:
                found.update(part.tobytes())
        return found.hexdigest()[:16]


def codes_of(
    wanted: Sequence[str], known: Sequence[str], what: str, source: object
) -> NDArray[np.int64]:
    """The number of every id; those that are not known raise, all of them in one line."""
    place = {name: number for number, name in enumerate(known)}
    unknown = list(dict.fromkeys(name for name in wanted if name not in place))
    if unknown:
        shown = ", ".join(repr(name) for name in unknown[:_SHOWN])
        more = ", …" if len(unknown) > _SHOWN else ""
        near = get_close_matches(unknown[0], known[:10_000], n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise DataError(
            f"{source}: {len(unknown)} unknown {what} {'ids' if len(unknown) > 1 else 'id'}: "
            f"{shown}{more}; the model knows the {len(known)} {what}s it was trained on{hint}"
        )
    found: NDArray[Any] = np.array([place[name] for name in wanted], dtype=np.int64)
    return found
