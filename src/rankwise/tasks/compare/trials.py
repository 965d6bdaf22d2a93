"""Stored trials: options and values in a database, the scores of the best in a file."""

from __future__ import annotations

import sqlite3
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from optuna.storages import RDBStorage

from rankwise.data import DataError
from rankwise.files import read_npz, write_npz
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.fit import FoldScores, fold_arrays, folds_of


class _Connection(sqlite3.Connection):
    """A connection that does not wait for the disk: a stopped process loses nothing by it."""

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self.execute("PRAGMA synchronous = OFF")


@contextmanager
def open_storage(path: Path) -> Iterator[RDBStorage]:
    """Open the SQLite file that trials are kept in."""
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
class TrialStore:
    """The stored trials of a candidate, so that none is repeated after a stop."""

    storage: RDBStorage
    folder: Path  # scores of the best trial of every candidate
    prefix: str = ""  # of the names in both, where a candidate is tuned several times

    def name(self, candidate: Candidate) -> str:
        """Return the candidate's name in the storage and in the folder."""
        return f"{self.prefix}{candidate.key}"

    def best(self, candidate: Candidate, number: int) -> tuple[FoldScores, ...] | None:
        """Return the scores of the trial of a number, if it was the last one that was kept."""
        try:
            arrays = read_npz(self._file(candidate))
            if int(arrays["number"]) != number:
                return None
            return folds_of(arrays)
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
            return None

    def keep(self, candidate: Candidate, number: int, folds: Sequence[FoldScores]) -> None:
        """Keep the scores of a trial, in place of those of an earlier one."""
        write_npz(self._file(candidate), {"number": number, **fold_arrays(folds)})

    def _file(self, candidate: Candidate) -> Path:
        return self.folder / f"{self.name(candidate)}.npz"
