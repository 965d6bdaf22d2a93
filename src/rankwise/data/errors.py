"""Errors about files of data."""

from __future__ import annotations


class DataError(ValueError):
    """A file, or a request about it, that cannot be used.

    Args:
        message: What is wrong; it becomes one line.

    Example:
        >>> from rankwise.data import DataError
        >>> str(DataError("data.csv: is empty;\\n  write some rows"))
        'data.csv: is empty; write some rows'
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))
