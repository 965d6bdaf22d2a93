"""Where trials are kept: options and values in a database, the scores of the best in a file."""

from __future__ import annotations

import sqlite3
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from optuna.storages import RDBStorage

from rankwise.data import DataError
from rankwise.report.files import read_arrays, write_arrays
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.fit import Judged


class _Connection(sqlite3.Connection):
    """Without a wait for the disk at every write: a process that is stopped loses nothing by it."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.execute("PRAGMA synchronous = OFF")


@contextmanager
def open_storage(path: Path) -> Iterator[RDBStorage]:
    """The SQLite file that trials are kept in."""
    try:
        storage = RDBStorage(
            f"sqlite:///{path}", engine_kwargs={"connect_args": {"factory": _Connection}}
        )
    except Exception as error:  # of the database, its driver or optuna, whatever it stumbled over
        if not path.is_file():
            raise
        reason = str(error).partition("\n")[0]
        raise DataError(f"{path}: holds no trials of `rankwise compare`: {reason}") from None
    try:
        yield storage
    finally:
        storage.engine.dispose()


@dataclass(frozen=True)
class Place:
    """Where the trials of a candidate are kept, so that none is repeated after a stop."""

    storage: RDBStorage
    folder: Path  # scores of the best trial of every candidate
    prefix: str = ""  # of the names in both, where a candidate is tuned several times

    def name(self, candidate: Candidate) -> str:
        """The candidate's name in the storage and in the folder."""
        return f"{self.prefix}{candidate.key}"

    def best(self, candidate: Candidate, number: int) -> tuple[Judged, ...] | None:
        """The scores of the trial of a number, if it was the last one that was kept."""
        try:
            arrays = read_arrays(self._file(candidate))
            if int(arrays["number"]) != number:
                return None
            return tuple(
                Judged(arrays[f"scores_{n}"], arrays[f"ranked_{n}"], float(value), bool(cut))
                for n, (value, cut) in enumerate(zip(arrays["values"], arrays["cut"], strict=True))
            )
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
            return None

    def keep(self, candidate: Candidate, number: int, judged: Sequence[Judged]) -> None:
        """Keep the scores of a trial, in place of those of an earlier one."""
        arrays: dict[str, NDArray[Any]] = {
            "number": np.array(number),
            "values": np.array([each.value for each in judged]),
            "cut": np.array([each.cut for each in judged]),
        }
        for n, each in enumerate(judged):
            arrays |= {f"scores_{n}": each.scores, f"ranked_{n}": each.ranked}
        write_arrays(self._file(candidate), arrays)

    def _file(self, candidate: Candidate) -> Path:
        return self.folder / f"{self.name(candidate)}.npz"
