"""What a task cannot do, in one line."""

from rankwise.checks import UsageError

__all__ = ["UsageError"]
