"""What a task cannot do, in one line."""

from rankwise.errors import UsageError

__all__ = ["UsageError"]
