"""Errors about files of data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rankwise.errors import UsageError


class DataError(UsageError):
    """A file, or a request about it, that cannot be used.

    Args:
        message: What is wrong; it becomes one line.

    Example:
        >>> from rankwise.data import DataError
        >>> str(DataError("data.csv: is empty;\\n  write some rows"))
        'data.csv: is empty; write some rows'
    """


@contextmanager
def parsing(path: Path, kind: str) -> Iterator[None]:
    """Raise errors of reading a file as :class:`DataError`: missing, or not of its kind."""
    try:
        yield
    except (DataError, ImportError):
        raise
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except Exception as error:  # the parsers of many formats raise whatever they stumbled over
        raise DataError(f"{path}: cannot be read as {kind}: {error}") from error
