"""Errors that a person can settle, without the imports of what raises them."""

from __future__ import annotations


class UsageError(ValueError):
    """Something was asked for that cannot be done; the message becomes one line."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))
