"""The SQLite file that trials are kept in: read whole before use, its errors in one line."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from optuna.exceptions import StorageInternalError
from optuna.storages import RDBStorage

from rankwise.data import DataError
from rankwise.errors import reason_of

STUDY = "study.db"
_DISK = {sqlite3.SQLITE_FULL: errno.ENOSPC, sqlite3.SQLITE_READONLY: errno.EROFS}
_ANEW = "restore it, or start the run in another folder with --out"


class _Connection(sqlite3.Connection):
    """A connection that does not wait for the disk: a stopped process loses nothing by it."""

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self.execute("PRAGMA synchronous = OFF")


@contextmanager
def open_storage(path: Path) -> Iterator[RDBStorage]:
    """Open a file of trials, new or of a run that is resumed.

    Raises:
        DataError: If it is damaged, another file, or removed while it is used.
        OSError: If the disk is full or read-only, also later, while it is used.
    """
    try:
        storage = _opened(path)
    except Exception as error:  # of the database, its driver or optuna
        _raise_of_disk(error, path)
        if not path.is_file():
            raise
        reason = reason_of(error).partition(" [SQL:")[0]
        words = f"{path}: holds no trials of `rankwise compare`: {reason}; {_ANEW}"
        raise DataError(words) from error
    try:
        yield storage
    except Exception as error:  # an error of the database is wrapped by each library above it
        if _of_sqlite(error) is None and not isinstance(error, StorageInternalError):
            raise
        if not path.exists():
            words = f"{path} was removed while the run was writing into it; start the run again"
            raise DataError(words) from error
        _raise_of_disk(error, path)
        reason = reason_of(_of_sqlite(error) or error)
        raise DataError(f"{path}: the trials cannot be kept in it: {reason}; {_ANEW}") from error
    finally:
        storage.engine.dispose()


def _opened(path: Path) -> RDBStorage:
    # Opened by its path: in the address of a database "?" and "%" mean something else.
    connect = partial(sqlite3.connect, path, factory=_Connection, check_same_thread=False)
    storage = RDBStorage(f"sqlite:///{STUDY}", engine_kwargs={"creator": connect})
    try:
        with sqlite3.connect(path) as connection:
            (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        connection.close()
        if found != "ok":
            raise ValueError(found)
        for study in storage.get_all_studies():  # values that are no JSON, and the like
            storage.get_all_trials(study._study_id, deepcopy=False)
    except BaseException:
        storage.engine.dispose()
        raise
    return storage


def _raise_of_disk(error: BaseException, path: Path) -> None:
    """Raise the error of the system where SQLite could not write."""
    found = _of_sqlite(error)
    # The code of an extended error has that of its kind in the last byte.
    if found is not None and (number := _DISK.get(getattr(found, "sqlite_errorcode", 0) & 0xFF)):
        raise OSError(number, os.strerror(number), str(path)) from error


def _of_sqlite(error: BaseException | None) -> sqlite3.Error | None:
    """Return the error of SQLite that another one was raised from."""
    while error is not None and not isinstance(error, sqlite3.Error):
        error = error.__cause__ or error.__context__
    return error
