"""What is wrong with a file of data, in one line."""

from __future__ import annotations

__all__ = ["DataError"]


class DataError(ValueError):
    """The file, or what was asked of it, cannot be used; the message is one line."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))
