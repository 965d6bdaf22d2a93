"""Errors about files of data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import ParamSpec, TypeVar

from rankwise.errors import UsageError, foreign_errors


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
        with foreign_errors(f"{path}: cannot be read as {kind}", DataError):
            yield
    except DataError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise DataError(f"{path}: there is no such file") from None
        raise


Arguments = ParamSpec("Arguments")
Read = TypeVar("Read")


def reads(
    kind: str,
) -> Callable[[Callable[Arguments, Read]], Callable[Arguments, Read]]:
    """Put a reader behind :func:`parsing`; its argument ``path`` or ``root`` is the file.

    What is wrong with other arguments (a ``ValueError`` of :mod:`rankwise.checks`) must be found
    by the reader before it calls what is decorated.
    """

    def wrap(read: Callable[Arguments, Read]) -> Callable[Arguments, Read]:
        form = signature(read)
        name = next(name for name in ("path", "root") if name in form.parameters)

        @wraps(read)
        def checked(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Read:
            given = form.bind(*args, **kwargs).arguments[name]  # a wrong call is a TypeError
            with parsing(Path(str(given)), kind):
                return read(*args, **kwargs)

        return checked

    return wrap
